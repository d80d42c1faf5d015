/** Counts the writes to logs, and measures the time until each write is durable. */
import type { Files } from './files.ts'

export class Written {
  /** The number of finished writes, including failed writes. */
  writes = 0
  /** Bytes of the writes that succeeded. */
  bytes = 0
  /** The sum of the times of all finished writes, in milliseconds. Writes of several conversations overlap. */
  ms = 0
}

/** Returns `files` with one change: `written` counts each write to a file that was opened with `writeThrough`. */
export function countedFiles(files: Files, written: Written): Files {
  return {
    async open(path, options) {
      const file = await files.open(path, options)
      if (options?.writeThrough !== true) return file
      return {
        ...file,
        async write(bytes, position) {
          const begun = performance.now()
          try {
            await file.write(bytes, position)
            written.bytes += bytes.length
          } finally {
            written.writes++
            written.ms += performance.now() - begun
          }
        },
      }
    },
  }
}
