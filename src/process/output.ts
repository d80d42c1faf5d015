/** Collects the output of a program up to a limit. The chunk that exceeds the limit and later chunks are dropped. */
import type { Readable } from 'node:stream'
import { deferred } from '../base/wait.ts'

export interface Output {
  /** Resolves when the stream is closed. */
  readonly ended: Promise<void>
  /** Resolves when the output exceeds the limit. */
  readonly overflow: Promise<undefined>
  bytes(): Buffer
}

export function collectOutput(stream: Readable, limitBytes: number): Output {
  const ended = deferred<void>()
  const overflow = deferred<undefined>()
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limitBytes) chunks.push(chunk)
    else overflow.resolve(undefined)
  })
  stream.once('close', () => ended.resolve())
  return { ended: ended.promise, overflow: overflow.promise, bytes: () => Buffer.concat(chunks) }
}
