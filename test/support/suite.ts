/**
 * A uvu suite whose tests have a deadline, since uvu has none.
 *
 * `test(name, body)` fails when the body has not settled after `deadlineMs`. `test.skip(name, reason)` counts a test
 * that this machine cannot run and prints why. Call `test.run()` last, as with uvu. With TEST_FIRST_FAILURE set the
 * process ends at the first test that fails: `npm run mutate` need not know more.
 */
import { writeSync } from 'node:fs'
import { suite as uvuSuite } from 'uvu'
import { openWaits } from './waits.ts'

export interface Suite {
  (name: string, body: () => void | Promise<void>, deadlineMs?: number): void
  skip(name: string, reason: string): void
  before(hook: () => void | Promise<void>): void
  after(hook: () => void | Promise<void>): void
  run(): void
}

export function suite(title: string, defaultDeadlineMs = 60_000): Suite {
  const inner = uvuSuite(title)
  const test = (name: string, body: () => void | Promise<void>, deadlineMs = defaultDeadlineMs): void => {
    inner(name, async () => {
      try {
        await withDeadline(body, deadlineMs)
      } catch (thrown) {
        if (process.env['TEST_FIRST_FAILURE'] !== undefined) endWith(name, thrown)
        throw thrown
      }
    })
  }
  return Object.assign(test, {
    skip(name: string, reason: string): void {
      process.stdout.write(`skipped: ${name}: ${reason}\n`)
      inner.skip(name)
    },
    before: (hook: () => void | Promise<void>): void => inner.before(hook),
    after: (hook: () => void | Promise<void>): void => inner.after(hook),
    run: (): void => inner.run(),
  })
}

/** One line, which says whether an assertion failed or the machine may be to blame. */
function endWith(name: string, thrown: unknown): never {
  const isAssertion = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_ASSERTION'
  const [words] = String(thrown).split('\n')
  writeSync(1, `\nfirst failure (${isAssertion ? 'assertion' : 'other'}): ${name}: ${words}\n`)
  process.exit(1)
}

async function withDeadline(body: () => void | Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const waits = [...openWaits].map((words) => `\n  waits for ${words}`).join('')
      reject(new Error(`not done after ${deadlineMs} ms${waits}`))
    }, deadlineMs)
  })
  try {
    await Promise.race([body(), late])
  } finally {
    clearTimeout(timer)
  }
}
