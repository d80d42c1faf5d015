/**
 * Copies the first lines of a log into a new log, for a fork of the conversation.
 *
 * The bytes are copied as they are, with private records (lines that are not events) and damaged lines.
 */
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import { storageError } from '../base/own-files.ts'
import { lineFeed } from './chain.ts'
import { nodeFiles, openToRead, type ReadableFile } from './files.ts'
import type { ConversationLog } from './log.ts'

const chunkBytes = 1024 * 1024

export interface CopyPrefixOptions {
  readonly log: ConversationLog
  /** The folder of the log. */
  readonly from: string
  /** The folder for the copy. */
  readonly to: string
  /** Seq of the last event to copy: its number in the log, from 0 on. Null for all lines before `end`. */
  readonly event: number | null
  /** A byte offset between two lines, such as that of `log.head`. No line after this offset is copied. */
  readonly end: number
}

/**
 * Copies the log up to the end of the line of `event`, or up to `end` if `event` is null.
 * @throws AppError `storage_full`, `storage_failed`, `owned_by_another`; RangeError if the log lacks the event
 */
export async function copyPrefix(options: CopyPrefixOptions): Promise<void> {
  const { log, event } = options
  if (event !== null && (event < 0 || event >= log.eventCount)) {
    throw new RangeError(`Cannot copy up to event ${event}: there are ${log.eventCount}`)
  }
  const files: ReadableFile[] = []
  try {
    const source = await openToRead(join(options.from, 'events.jsonl'))
    files.push(source)
    const target = await nodeFiles.open(join(options.to, 'events.jsonl'))
    files.push(target)
    const end = event === null ? options.end : await endOfLine(source, log.offsetOf(event), options.end)
    for (let offset = 0; offset < end; offset += chunkBytes) {
      await target.write(await source.read(Math.min(chunkBytes, end - offset), offset), offset)
    }
    await target.sync()
  } catch (thrown) {
    throw storageError('Cannot copy the log', thrown)
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}

async function endOfLine(file: ReadableFile, from: number, to: number): Promise<number> {
  for (let offset = from; offset < to; offset += chunkBytes) {
    const at = (await file.read(Math.min(chunkBytes, to - offset), offset)).indexOf(lineFeed)
    if (at !== -1) return offset + at + 1
  }
  throw new AppError('storage_failed', 'the event has no end')
}
