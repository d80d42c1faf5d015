/**
 * A file of sealed values in the data folder, as the start, `verify` and `keys reseal` use it: checked by opening it,
 * and sealed again with the newest key.
 */
import type { Masker } from '../base/masking.ts'
import type { TellChange } from './change-log.ts'
import type { Cipher } from './cipher.ts'

export interface SealedFile {
  /** Opens every value in the file. @throws AppError `settings_unreadable` */
  read(): Promise<unknown>
  /**
   * Seals the file with the newest key, if it exists. @throws AppError `settings_unreadable`, `storage_full`,
   * `storage_failed`
   */
  rewrite(): Promise<void>
}

export interface SealedFileOptions {
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly onChange?: TellChange
}

export type OpenSealedFile = (options: SealedFileOptions) => SealedFile
