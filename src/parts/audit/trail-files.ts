/**
 * The files of the audit trail: `audit/000001.jsonl` and so on, in the data folder.
 *
 * Each line begins with a hash that depends on the line before (storage/chain). The chain continues from file to file.
 */
import { join } from 'node:path'
import { systemCodeOf } from '../../base/errors.ts'
import { failsAsStorage, storageError } from '../../base/own-files.ts'
import { readdir, readFile } from '../../base/read-files.ts'

/** The size at which a new file begins. */
export const fileLimitBytes = 16 * 1024 * 1024

export function folderOf(dataDir: string): string {
  return join(dataDir, 'audit')
}

export function pathOf(dataDir: string, number: number): string {
  return join(folderOf(dataDir), `${String(number).padStart(6, '0')}.jsonl`)
}

/** Returns the numbers of the files, the oldest first. @throws AppError `storage_failed` */
export async function numbersIn(dataDir: string): Promise<number[]> {
  const names = await readdir(folderOf(dataDir)).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return []
    throw storageError('Cannot read the audit trail', thrown)
  })
  const numbers = names.flatMap((name) => (/^\d{6}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
  return numbers.sort((a, b) => a - b)
}

/** Returns the content of a file. @throws AppError `storage_failed` */
export function contentOf(dataDir: string, number: number): Promise<Buffer> {
  return failsAsStorage('Cannot read the audit trail', () => readFile(pathOf(dataDir, number)))
}
