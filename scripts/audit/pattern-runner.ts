/**
 * Matches texts against regular expressions in a thread, and ends the thread when a match takes too long.
 *
 * The caller waits without its event loop, so that the processor time of the process is that of the match.
 */
import { Worker } from 'node:worker_threads'
import { answerBytes, countIn, timeIn } from './pattern-answer.ts'
import type { Attack } from './pattern-attacks.ts'
import type { MeasuredPattern } from './pattern-time.ts'

/** An attempt that takes longer by the clock is stopped. On a busy machine it may have had little of the processor. */
const stopMs = 3000
const startTimeoutMs = 60_000

export interface Attempt {
  /** Processor time. */
  readonly ms: number
  /** False when the match was stopped. */
  readonly isOver: boolean
}

interface Thread {
  readonly worker: Worker
  /** The memory for answers: a number for each answer, and the last answer. */
  readonly memory: SharedArrayBuffer
}

export class PatternRunner {
  #thread: Thread | undefined

  /** Matches the text of an attack once. @throws Error when the thread cannot start */
  attempt(pattern: MeasuredPattern, attack: Attack, chars: number): Attempt {
    const thread = this.#thread ??= startThread()
    const start = process.cpuUsage()
    const answer = ask(thread, { pattern, attack, chars }, stopMs)
    if (answer !== undefined) return answer
    this.close()
    const { user, system } = process.cpuUsage(start)
    return { ms: (user + system) / 1000, isOver: false }
  }

  close(): void {
    void this.#thread?.worker.terminate()
    this.#thread = undefined
  }
}

function startThread(): Thread {
  const memory = new SharedArrayBuffer(answerBytes)
  const worker = new Worker(new URL('./pattern-attempts.js', import.meta.url), { workerData: memory, env: {} })
  worker.unref()
  if (answerOf(memory, 0, startTimeoutMs) === undefined) throw new Error('Cannot start the thread of the expressions')
  return { worker, memory }
}

/** Returns undefined when there is no answer in time. */
function ask({ worker, memory }: Thread, job: unknown, timeoutMs: number): Attempt | undefined {
  const before = Atomics.load(countIn(memory), 0)
  worker.postMessage(job)
  return answerOf(memory, before, timeoutMs)
}

function answerOf(memory: SharedArrayBuffer, before: number, timeoutMs: number): Attempt | undefined {
  if (Atomics.wait(countIn(memory), 0, before, timeoutMs) === 'timed-out') return undefined
  const [ms = 0, isOver] = timeIn(memory)
  return { ms, isOver: isOver === 1 }
}
