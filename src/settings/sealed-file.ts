/**
 * A file of an optional module with sealed (encrypted) values. The server's start, `agent-server verify` and `doctor`
 * open the values to check them, and `agent-server sealing-keys reseal` seals them again.
 */
import type { Masker } from '../base/masking.ts'
import type { TellChange } from './change-log.ts'
import type { Cipher } from './cipher.ts'

export interface SealedFile {
  /** Reads the file and opens (decrypts) its values. @throws AppError `settings_unreadable` */
  read(): Promise<unknown>
  /** Seals the values again with the sealing key, if the file exists. @throws the errors of `StoredFile.rewrite` */
  rewrite(): Promise<void>
}

export interface SealedFileOptions {
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly onChange?: TellChange
}

export type OpenSealedFile = (options: SealedFileOptions) => SealedFile
