/**
 * How the run of one test file ended: told from its exit code and its output.
 *
 * Only a failed assertion is believed at once. Anything else (a deadline, a connection that was refused, a process that
 * was killed) may be the machine's doing, so the caller has to run the same test without the mutation. Pure.
 */
import type { CommandEnd } from './command.ts'

export interface TestEnd {
  readonly outcome: 'passed' | 'asserted' | 'failed'
  /** The test that failed and why, on one line. */
  readonly detail: string
  readonly ms: number
}

/** As test/support/suite prints it when TEST_FIRST_FAILURE is set. */
const firstFailure = /^first failure \((assertion|other)\): (.*)$/m

export function testEndOf({ code, output, isLate, ms }: CommandEnd): TestEnd {
  if (isLate) return { outcome: 'failed', detail: `still running after ${ms} ms`, ms }
  const [, sort, words] = firstFailure.exec(output) ?? []
  if (code === 0 && sort === undefined) return passed(output, ms)
  const detail = words ?? `ended with ${code ?? 'a signal'}: ${lastLine(output)}`
  return { outcome: sort === 'assertion' ? 'asserted' : 'failed', detail, ms }
}

/** A file in which no test ran has not passed. */
function passed(output: string, ms: number): TestEnd {
  const count = Number(/Passed:\D*?(\d+)/.exec(output.replaceAll(colors, ''))?.[1] ?? 0)
  return count > 0 ? { outcome: 'passed', detail: '', ms } : { outcome: 'failed', detail: 'no test passed', ms }
}

const colors = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, 'g')

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
