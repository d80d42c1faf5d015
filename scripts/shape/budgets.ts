/**
 * Rule about the history: a commit that raises a number in `lineBudgets` has the word "budget" in its message.
 *
 * The commits before the rule are not asked. A copy of the tree without its history cannot be checked.
 */
import { lineBudgets } from './architecture.ts'
import type { Finding } from './finding.ts'

const budgetFile = 'scripts/shape/architecture.ts'

/** The last commit before the rule. */
const lastBefore = 'ed9ec105dc83f3344429e449222d50d268ef6cc0'

/** The arguments of git(1) for the commits that the rule is asked of. The result is a log for `checkBudgetCommits`. */
export const budgetLog: readonly string[] = [
  'log', '-p', '--no-color', '--no-ext-diff', '--no-textconv', '--format=%x00%H%x00%B%x00',
  `${lastBefore}..HEAD`, '--', budgetFile,
]

/** @param log NUL, hash, NUL, message, NUL and the difference of each commit */
export function checkBudgetCommits(log: string): Finding[] {
  const [, ...fields] = log.split('\0')
  const findings: Finding[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [hash = '', text = '', difference = ''] = fields.slice(at, at + 3)
    const raised = raisedIn(difference)
    if (raised.length === 0 || /budget/i.test(text)) continue
    const message = `commit ${hash.slice(0, 8)} raises ${raised.join(', ')} without "budget" in its message: say why`
    findings.push({ file: budgetFile, line: 1, rule: 'budget', message })
  }
  return findings
}

/** The names of the budgets that a difference raises. A new budget is no raise. */
function raisedIn(difference: string): readonly string[] {
  const linesOf = (sign: '+' | '-'): ReadonlyMap<string, number> => {
    const found = [...difference.matchAll(/^([+-]) {2}'?([a-z-]+)'?: ([\d_]+),/gm)].filter((line) => line[1] === sign)
    return new Map(found.map(([, , name = '', digits = '']) => [name, Number(digits.replaceAll('_', ''))]))
  }
  const before = linesOf('-')
  const isRaised = ([name, lines]: [string, number]): boolean => lines > (before.get(name) ?? Infinity)
  return [...linesOf('+')].filter(isRaised).map(([name]) => name).filter((name) => Object.hasOwn(lineBudgets, name))
}
