/**
 * The trial of one mutation: is it noticed?
 *
 * The named tests run one after another until one fails. A failure that is no assertion counts only when the same test
 * passes on the control tree, which is never changed: then it was the mutation and not the machine. When it does not,
 * both are asked again, a few times.
 */
import type { Mutation } from './mutation.ts'
import type { TestEnd } from './test-end.ts'

/** The members of a tree that a trial needs. */
export interface TrialTree {
  mutate(mutation: Mutation): string | undefined
  build(): Promise<string | undefined>
  test(file: string, limitMs: number): Promise<TestEnd>
}

export type Verdict = 'killed' | 'survived' | 'not applicable' | 'does not compile' | 'in doubt'

export interface Outcome {
  readonly verdict: Verdict
  /** The test that failed, or why there is no answer. */
  readonly detail: string
  readonly ms: number
}

export interface TrialTrees {
  readonly mutated: TrialTree
  readonly control: Pick<TrialTree, 'test'>
  /** The deadline of a test file. */
  readonly limitMs: (test: string) => number
}

/** How often a test that fails without the mutation as well is asked again. */
const attempts = 3

export async function tryMutation(mutation: Mutation, trees: TrialTrees): Promise<Outcome> {
  const start = Date.now()
  const end = (verdict: Verdict, detail: string): Outcome => ({ verdict, detail, ms: Date.now() - start })
  const reason = trees.mutated.mutate(mutation)
  if (reason !== undefined) return end('not applicable', reason)
  const fault = await trees.mutated.build()
  if (fault !== undefined) return end('does not compile', fault)
  let doubt: string | undefined
  for (const test of mutation.tests) {
    const { verdict, detail } = await judge(test, trees)
    if (verdict === 'killed') return end('killed', `${test}: ${detail}`)
    if (verdict === 'in doubt') doubt = `${test} fails without the mutation as well: ${detail}`
  }
  return doubt === undefined ? end('survived', mutation.tests.join(' ')) : end('in doubt', doubt)
}

async function judge(
  test: string, { mutated, control, limitMs }: TrialTrees,
): Promise<Pick<Outcome, 'verdict' | 'detail'>> {
  let detail = ''
  for (let attempt = 0; attempt < attempts; attempt++) {
    const end = await mutated.test(test, limitMs(test))
    if (end.outcome === 'passed') return { verdict: 'survived', detail: '' }
    detail = end.detail
    if (end.outcome === 'asserted') return { verdict: 'killed', detail }
    if ((await control.test(test, limitMs(test))).outcome === 'passed') return { verdict: 'killed', detail }
  }
  return { verdict: 'in doubt', detail }
}
