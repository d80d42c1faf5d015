/**
 * Reads and writes small JSON files that are replaced whole: settings, secrets, the format number, cached state.
 *
 * Writes are atomic (own-files). Concurrent writes of one file finish in any order, so a caller that reads, changes and
 * writes must queue its writes. Error messages name the file without its folders.
 */
import { basename } from 'node:path'
import { AppError } from './errors.ts'
import { countValues, parseJson, usualValueLimit } from './json.ts'
import { createFile, storageError, writeFileAtomically } from './own-files.ts'
import { readText } from './read-files.ts'

/** The default limit of a file's size. A file is parsed at once, so a larger file would block the event loop. */
const defaultLimitBytes = 16 * 1024 * 1024

export interface ReadJsonFileOptions {
  /** The most bytes. A longer file is refused before it is read. Default 16 MiB. */
  readonly limitBytes?: number
  /** The most JSON values. Default: `usualValueLimit`. */
  readonly valueLimit?: number
}

/**
 * Returns the value in a JSON file; undefined when there is no such file.
 * @throws AppError `storage_failed` when the file cannot be read, is not JSON, or breaks a limit.
 */
export async function readJsonFile(path: string, options: ReadJsonFileOptions = {}): Promise<unknown> {
  const { limitBytes = defaultLimitBytes, valueLimit } = options
  const what = `Cannot read "${basename(path)}"`
  try {
    const text = await readText(path, limitBytes)
    return text === undefined ? undefined : parseContent(text, valueLimit)
  } catch (thrown) {
    throw storageError(what, thrown)
  }
}

/**
 * Replaces a file by the indented JSON of `value`, or creates it. Refuses a value above the default limits of bytes and
 * values, because it could not be read again.
 * @throws AppError `invalid_input` for a refused value; the errors of `writeFileAtomically`
 */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, undefined, 2)}\n`
  if (Buffer.byteLength(text) > defaultLimitBytes || countValues(text, usualValueLimit) > usualValueLimit) {
    const most = `at most ${usualValueLimit} values and ${defaultLimitBytes} bytes`
    throw new AppError('invalid_input', `Cannot write "${basename(path)}": it would hold too much, expected ${most}`)
  }
  await writeFileAtomically(path, text)
}

/**
 * Creates a file that appears with its whole content, the JSON of `value`. Returns false when a file of this name
 * exists, and leaves that file unchanged. Of several concurrent callers one creates the file.
 * @throws AppError as `createFile`
 */
export function createJsonFile(path: string, value: unknown): Promise<boolean> {
  return createFile(path, `${JSON.stringify(value, undefined, 2)}\n`)
}

/** Parses a file's content. The engine's message quotes the text, which may hold secrets: only the position is kept. */
function parseContent(text: string, valueLimit?: number): unknown {
  try {
    return parseJson(text, valueLimit)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    throw new SyntaxError(`it is not JSON${/ at position \d+/.exec(thrown.message)?.[0] ?? ''}`)
  }
}
