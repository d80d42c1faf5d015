/** The target of a backup: a folder (`BackupFolder`) or a tar stream (`TarTarget`). Both store files as pieces. */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Piece } from './manifest.ts'
import { readAt } from './log-cut.ts'

/** The bytes to store: in an open file, from the offset `from` to the byte before the offset `to`. */
export interface Source {
  readonly file: FileHandle
  readonly from: number
  readonly to: number
  /** The path of the file, if a hard link may replace a copy. `from` and `to` then span the whole file. */
  readonly linkFrom?: string
}

export interface Target {
  /** Returns whether the target has this piece already. */
  has(piece: Piece): Promise<boolean>
  /**
   * Stores the bytes of `source`. Returns undefined if the file ends before `to`.
   * @throws AppError `storage_full`, `storage_failed`
   */
  add(source: Source): Promise<Piece | undefined>
  addBytes(bytes: Buffer): Promise<Piece>
  /** Writes the lines of the manifest, which completes the backup. */
  finish(lines: readonly string[]): Promise<void>
  /** The numbers of copied and of hard-linked bytes, both without the manifest. */
  readonly written: { readonly copiedBytes: number; readonly linkedBytes: number }
}

const chunkBytes = 1024 * 1024

/** Yields the bytes of a source in chunks. Yields fewer bytes if the file ends before `to`. */
export async function* bytesOf({ file, from, to }: Source): AsyncGenerator<Buffer, void> {
  for (let at = from; at < to;) {
    const bytes = await readAt(file, at, Math.min(chunkBytes, to - at))
    if (bytes.length === 0) return
    yield bytes
    at += bytes.length
  }
}

/** Counts bytes and computes their SHA-256. */
export class PieceOf {
  readonly #digest = createHash('sha256')
  size = 0

  add(bytes: Uint8Array): void {
    this.#digest.update(bytes)
    this.size += bytes.length
  }

  /** Returns the SHA-256 and the number of all added bytes. Call it once. */
  end(): Piece {
    return { sha256: this.#digest.digest('hex'), size: this.size }
  }
}
