/**
 * An external agent that does nothing but talk: after a prompt it sends updates that carry the time of their writing.
 *
 * The prompt names the kind and the number of updates. `delta 200` and `tool 200` send one update every two
 * milliseconds; each `tool` update becomes one event, an action or its observation. `burst 200` sends a piece
 * of text, a tool call and its end in turn, without a pause, as fast as they are read: each becomes one event. A
 * cancelled turn ends at once.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerLine, textChunk, toolCall, toolEnd, type Talk } from './talk.ts'

const pauseMs = 2
let updates = 0

let isCancelled = false

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.includes('"session/cancel"')) isCancelled = true
  else void answerLine(line, talk, write)
}).on('close', () => (isCancelled = true))

async function talk({ kind, count }: Talk): Promise<void> {
  isCancelled = false
  for (let left = count; left > 0 && !isCancelled; left--) {
    const isText = kind === 'delta' || (kind === 'burst' && left % 3 === 0)
    const isRead = write(isText ? textChunk() : nextToolUpdate())
    if (kind !== 'burst') await sleep(pauseMs)
    else if (!isRead) await once(process.stdout, 'drain')
  }
}

function nextToolUpdate(): string {
  const [call, isEnd] = [updates >> 1, updates % 2 === 1]
  updates++
  return isEnd ? toolEnd(call) : toolCall(call)
}

/** Returns false when more waits to be read than the pipe takes. */
function write(line: string): boolean {
  return process.stdout.write(line)
}
