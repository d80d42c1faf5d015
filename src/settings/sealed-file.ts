/**
 * A file of sealed values in the data folder, as the start, `verify` and `keys reseal` use it: whether it opens, and once more
 * with the newest key.
 */
import type { Masker } from '../base/masking.ts'
import type { TellChange } from './change-log.ts'
import type { Cipher } from './cipher.ts'

export interface SealedFile {
  /** Opens all of it. @throws AppError `settings_unreadable` */
  read(): Promise<unknown>
  /** Seals it with the newest key, if there is a file. @throws AppError `settings_unreadable`, `storage_full`, `storage_failed` */
  rewrite(): Promise<void>
}

export interface SealedFileOptions {
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly onChange?: TellChange
}

export type OpenSealedFile = (options: SealedFileOptions) => SealedFile
