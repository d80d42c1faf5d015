/**
 * Reads and writes small JSON files, such as settings. Each write replaces the whole file.
 *
 * Concurrent writes of one file finish in any order. A caller that reads, changes and writes must queue its changes.
 */
import { basename } from 'node:path'
import { AppError } from './errors.ts'
import { countValues, parseJson, usualValueLimit } from './json.ts'
import { createFile, storageError, writeFileAtomically } from './own-files.ts'
import { readText } from './read-files.ts'

/** The default limit of a file's size. It bounds how long the parsing of a file blocks the event loop. */
const defaultLimitBytes = 16 * 1024 * 1024

export interface ReadJsonFileOptions {
  /** The most bytes of a file. A longer file is refused before it is read. Default: 16 MiB. */
  readonly limitBytes?: number
  /** The most JSON values in a file. Default: `usualValueLimit`. */
  readonly valueLimit?: number
}

/**
 * Returns the value in a JSON file; undefined when there is no such file.
 * @throws AppError `storage_failed` when the file is unreadable, exceeds a limit or is not JSON
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
 * Replaces or creates a file with the JSON of `value`.
 * @throws AppError `invalid_input` above the default limits; the errors of `writeFileAtomically`
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
 * Creates a file with the JSON of `value`. Returns false, without a change, when the file exists.
 * @throws the errors of `createFile`
 */
export function createJsonFile(path: string, value: unknown): Promise<boolean> {
  return createFile(path, `${JSON.stringify(value, undefined, 2)}\n`)
}

/** Parses a file's content. A syntax error tells only the position: a message of `JSON.parse` may quote secrets. */
function parseContent(text: string, valueLimit?: number): unknown {
  try {
    return parseJson(text, valueLimit)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    throw new SyntaxError(`it is not JSON${/ at position \d+/.exec(thrown.message)?.[0] ?? ''}`)
  }
}
