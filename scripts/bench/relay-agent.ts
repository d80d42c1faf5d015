/**
 * An external agent that does nothing but talk: after a prompt it sends updates that carry the time of their writing.
 *
 * The prompt names the kind and the number of updates. `delta 200` and `tool 200` send one update every two
 * milliseconds; each `tool` update becomes one event, an action or its observation.
 */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerLine, textChunk, toolCall, toolEnd, type Talk } from './talk.ts'

const pauseMs = 2
let updates = 0

for await (const line of createInterface({ input: process.stdin })) await answerLine(line, talk, write)

async function talk({ kind, count }: Talk): Promise<void> {
  for (let left = count; left > 0; left--) {
    write(kind === 'tool' ? nextToolUpdate() : textChunk())
    await sleep(pauseMs)
  }
}

function nextToolUpdate(): string {
  const [call, isEnd] = [updates >> 1, updates % 2 === 1]
  updates++
  return isEnd ? toolEnd(call) : toolCall(call)
}

function write(line: string): void {
  process.stdout.write(line)
}
