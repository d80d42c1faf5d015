/** The thread of `PatternRunner`: it matches the texts that it gets, and answers with their processor time. */
import { parentPort, workerData } from 'node:worker_threads'
import { countIn, timeIn } from './pattern-answer.ts'
import { textOf, type Attack } from './pattern-attacks.ts'
import type { MeasuredPattern } from './pattern-time.ts'

interface Job {
  readonly pattern: MeasuredPattern
  readonly attack: Attack
  readonly chars: number
}

/** The last expression. The time of a compilation does not count. */
let compiled: { key: string; use: (text: string) => void } = { key: '', use: () => undefined }

const memory: unknown = workerData
if (memory instanceof SharedArrayBuffer) {
  const answer = (ms: number, isOver: boolean): void => {
    timeIn(memory).set([ms, isOver ? 1 : 0])
    Atomics.add(countIn(memory), 0, 1)
    Atomics.notify(countIn(memory), 0)
  }
  parentPort?.on('message', (job: Job) => {
    const { ms, isOver } = attempt(job)
    answer(ms, isOver)
  })
  answer(0, true)
}

/** A text that overflows the stack of the engine counts as stopped. */
function attempt({ pattern, attack, chars }: Job): { ms: number; isOver: boolean } {
  const key = JSON.stringify(pattern)
  if (compiled.key !== key) compiled = { key, use: useOf(pattern) }
  const { use } = compiled
  const flat = Buffer.from(textOf(attack, chars), 'utf16le').toString('utf16le')
  const start = process.cpuUsage()
  const isOver = matches(use, flat)
  const { user, system } = process.cpuUsage(start)
  return { ms: (user + system) / 1000, isOver }
}

function matches(use: (text: string) => void, text: string): boolean {
  try {
    use(text)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function useOf({ source, flags, isRepeated }: MeasuredPattern): (text: string) => void {
  const pattern = new RegExp(source, flags)
  if (!isRepeated && !pattern.global) {
    return (text) => {
      pattern.lastIndex = 0
      pattern.exec(text)
    }
  }
  const all = new RegExp(source, `${flags.replaceAll(/[gy]/g, '')}g`)
  return (text) => void text.replace(all, '')
}
