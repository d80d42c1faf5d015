/**
 * Promises of src/parts/backup: the contents of a backup, and the refusals of a restore. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const folders = ['test/parts/backup/folders.test.ts']
const hostile = ['test/parts/backup/hostile.test.ts']
const moment = ['test/parts/backup/moment.test.ts']

export const backupMutations: readonly Mutation[] = [
  {
    file: 'src/parts/backup/moment.ts',
    old: 'if (before.stamp === after.stamp) return',
    new: 'if (before.stamp !== \'\') return',
    promise: 'Settings and keys in a backup are those of one moment.',
    tests: moment,
  },
  {
    file: 'src/parts/backup/log-cut.ts',
    old: 'const end = await afterLineFeed(file, size)',
    new: 'const end = size',
    promise: 'A log in a backup ends after a whole line.',
    tests: folders,
  },
  {
    file: 'src/parts/backup/backup.ts',
    old: 'await hasCut(file, { end: size, last }) && await this.#hasAll(pieces)',
    new: 'await this.#hasAll(pieces)',
    promise: 'A log that was cut back and continued is not stored as the continuation of its earlier lines.',
    tests: folders,
  },
  {
    file: 'src/parts/backup/backup.ts',
    old: 'await hasCut(file, { end: size, last }) && await this.#hasAll(pieces)',
    new: 'await hasCut(file, { end: size, last })',
    promise: 'A piece that was lost is stored again by the next backup.',
    tests: folders,
  },
  {
    file: 'src/parts/backup/contents.ts',
    old: 'if (ofLogs.has(name) || (!withKeys && keyFolders.has(name))) continue',
    new: 'if (ofLogs.has(name)) continue',
    promise: 'A backup without keys has neither keys nor digests of keys.',
    tests: ['test/parts/backup/backup.test.ts'],
  },
  {
    file: 'src/parts/backup/manifest.ts',
    old: 'part === \'.\' || part === \'..\' ||',
    new: 'part === \'.\' ||',
    promise: 'A path of a manifest leads below the folder that is restored.',
    tests: hostile,
  },
  {
    file: 'src/parts/backup/manifest.ts',
    old: 'if (lines.length < 2 || end[\'sha256\'] !== sha256) throw',
    new: 'if (lines.length < 2) throw',
    promise: 'A manifest that was changed is refused.',
    tests: hostile,
  },
  {
    file: 'src/parts/backup/tar.ts',
    old: 'if (pieceNames.test(name)) return',
    new: 'if (name.startsWith(\'files/\')) return',
    promise: 'An archive with another entry than a backup has is refused.',
    tests: hostile,
  },
  {
    file: 'src/parts/backup/restore.ts',
    old: 'if (size !== piece.size || sha256 !== piece.sha256) throw',
    new: 'if (size !== piece.size) throw',
    promise: 'A piece with a wrong digest is not restored.',
    tests: folders,
  },
  {
    file: 'src/parts/backup/restore.ts',
    old: 'if (blocks === 0 || missing <= bavail * bsize) return',
    new: 'if (blocks === 0 || missing > 0) return',
    promise: 'A backup that is larger than the disk is refused before anything is written.',
    tests: hostile,
  },
  {
    file: 'src/parts/backup/restore-folder.ts',
    old: 'const foreign = names.find((name) => !emptyNames.test(name) && !isTemporaryFile(name, markerName))',
    new: 'const foreign = names.find((name) => name === \'format.json\')',
    promise: 'A folder with other content is not restored to.',
    tests: folders,
  },
  {
    file: 'src/parts/backup/backup-folder.ts',
    old: 'if (pieceName.test(name) && !needed.has(name)) await removeFile',
    new: 'if (!pieceName.test(name)) await removeFile',
    promise: 'Pieces that no manifest names are removed.',
    tests: folders,
  },
]
