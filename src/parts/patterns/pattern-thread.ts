/**
 * Tests texts against a regular expression from a client or a model, in a thread of its own: an expression can run for
 * ever on a short text, and only the end of its thread stops it.
 *
 * The time limit is for all tests of an expression together. Call `test` again only when the last test has settled.
 */
import { Worker } from 'node:worker_threads'
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'

/** The time limit for the start of the thread, in milliseconds. */
const startTimeoutMs = 30_000

export interface PatternThreadOptions {
  readonly source: string
  readonly flags: string
  /** The time limit, in milliseconds, for all tests together. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export class PatternThread {
  readonly #worker: Worker
  readonly #signal: AbortSignal
  readonly #onAbort = (): void => this.#settle({ failure: this.#signal.reason })
  #timeLeftMs: number
  #settle: (outcome: Outcome) => void = () => undefined

  private constructor(options: PatternThreadOptions) {
    const { source, flags } = options
    // The compiler rewrites `.ts` to `.js` in imports, but not in a string.
    const file = import.meta.url.endsWith('.ts') ? './pattern-worker.ts' : './pattern-worker.js'
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: { source, flags },
      env: {},
      stdin: false,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    this.#timeLeftMs = options.timeoutMs
    this.#signal = options.signal
    this.#signal.addEventListener('abort', this.#onAbort)
    this.#worker.on('message', (message: unknown) => this.#settle({ message }))
    this.#worker.on('error', (failure) => this.#settle({ failure }))
  }

  /**
   * Starts the thread.
   * @throws AppError `invalid_input` for a wrong expression or a slow start; the thread's error; the signal's reason
   */
  static async start(options: PatternThreadOptions): Promise<PatternThread> {
    const thread = new PatternThread(options)
    try {
      const answer = await thread.#answer(startTimeoutMs)
      if (answer['ready'] === true) return thread
      throw new AppError('invalid_input', `Cannot use the regular expression: ${String(answer['error'])}`)
    } catch (thrown) {
      await thread.close()
      throw thrown
    }
  }

  /**
   * True when the expression matches anywhere in the text.
   * @throws AppError `invalid_input` at the time limit, the thread's error, or the signal's reason. Call `close` after
   * any of these errors.
   */
  async test(text: string | Uint8Array): Promise<boolean> {
    const start = performance.now()
    this.#worker.postMessage(text)
    const answer = await this.#answer(this.#timeLeftMs)
    this.#timeLeftMs -= performance.now() - start
    return answer['matches'] === true
  }

  /** Ends the thread. Idempotent. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort)
    await this.#worker.terminate()
  }

  async #answer(timeoutMs: number): Promise<Record<string, unknown>> {
    this.#signal.throwIfAborted()
    const outcome = await new Promise<Outcome>((resolve) => {
      const timer = setTimeout(() => resolve({ failure: tookTooLong() }), Math.max(timeoutMs, 0))
      this.#settle = (settled) => {
        clearTimeout(timer)
        resolve(settled)
      }
    })
    if ('failure' in outcome) throw outcome.failure
    return isObject(outcome.message) ? outcome.message : {}
  }
}

type Outcome = { readonly message: unknown } | { readonly failure: unknown }

function tookTooLong(): AppError {
  return new AppError('invalid_input', 'Cannot use the regular expression: it takes too long, use a simpler expression')
}
