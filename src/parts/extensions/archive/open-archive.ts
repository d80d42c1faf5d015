/** Recognizes an archive (zip, tar or tar.gz) by its first bytes and reads it. */
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { systemCodeOf } from '../../../base/errors.ts'
import { unpackedLimitOf, unusable, type Entry } from './entry.ts'
import { readTar } from './tar.ts'
import { readZip, type RandomAccess } from './zip.ts'

const pieceBytes = 64 * 1024
const magicBytes = 512

/** Yields an archive's entries. @throws AppError `bad_request` for an unusable archive; the errors of `file.read` */
export async function* readArchive(file: RandomAccess): AsyncGenerator<Entry, void> {
  const limitBytes = unpackedLimitOf(file.size)
  const start = await file.read(0, Math.min(magicBytes, file.size))
  const magic = start.toString('latin1', 0, 4)
  if (magic === 'PK\x03\x04' || magic === 'PK\x05\x06') yield* readZip(file, limitBytes)
  else if (magic.startsWith('\x1f\x8b')) yield* readTar(gunzipped(file), limitBytes)
  else if (start.toString('latin1', 257, 262) === 'ustar') yield* readTar(piecesOf(file), limitBytes)
  else throw unusable('expected a zip, tar or tar.gz archive')
}

async function* piecesOf(file: RandomAccess): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < file.size; at += pieceBytes) {
    const piece = await file.read(at, Math.min(pieceBytes, file.size - at))
    if (piece.length === 0) throw unusable('it is cut off')
    yield piece
  }
}

async function* gunzipped(file: RandomAccess): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: pieceBytes })
  const source = Readable.from(piecesOf(file), { objectMode: false })
  source.once('error', (error) => gunzip.destroy(error))
  try {
    for await (const piece of source.pipe(gunzip)) if (Buffer.isBuffer(piece)) yield piece
  } catch (thrown) {
    throw systemCodeOf(thrown)?.startsWith('Z_') === true ? unusable('it cannot be decompressed') : thrown
  } finally {
    source.destroy()
    gunzip.destroy()
  }
}
