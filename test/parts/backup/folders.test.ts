/** Words, folders and damaged backups that `backup` and `restore` take and refuse. Without a server. */
import {
  appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { runBackup, runRestore } from '../../../src/parts/backup/commands.ts'
import { lockFolder } from '../../../src/process/lock.ts'
import { inFolder } from '../../support/processes.ts'
import { member } from '../../support/rest.ts'
import { runToEnd } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { runKeys } from '../keys/named.ts'
import { backUpTo, refusal, restoreTo, run } from './commands.ts'
import { appendLines, logOf, withRecorded } from './recorded.ts'

const test = suite('parts/backup: folders')

/** All files below a folder with their content. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(files.map(({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [path.slice(folder.length + 1), readFileSync(path, 'latin1')]
  }).filter(([path = '']) => !besides.test(path)).sort())
}

/** Caches, the notes of a backup, and the format, which a restore writes last. */
const besides = /(^|\/)(lock|backup-last\.json|events\.index|state\.json|format\.json)$/

test('everything but caches comes back as it was, for its owner only', withRecorded(async (dataDir, folder) => {
  const [backup, place] = [join(folder, 'backup'), join(folder, 'restored')]
  await backUpTo(dataDir, backup)
  assert.match((await restoreTo(backup, place)).printed, 'Restored 5 conversations')
  assert.equal(contentOf(place), contentOf(dataDir))
  for (const root of [backup, place]) {
    assert.is(statSync(root).mode & 0o777, 0o700)
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
      assert.is(mode, entry.isDirectory() ? 0o700 : 0o600, entry.name)
    }
  }
  const { format, instance } = JSON.parse(readFileSync(join(place, 'format.json'), 'utf8'))
  assert.equal({ format, instance }, JSON.parse(readFileSync(join(dataDir, 'format.json'), 'utf8')))
}))

test('a restore of named keys says that revoked ones are valid again, and no other restore does', withRecorded(
  async (dataDir, folder) => {
    const [before, after] = [join(folder, 'before'), join(folder, 'after')]
    await backUpTo(dataDir, before)
    await runKeys(dataDir, ['add', 'ci'], { scopes: 'read' })
    await backUpTo(dataDir, after)
    await runKeys(dataDir, ['revoke', 'ci'])
    const words = 'Named keys that were revoked after the backup are valid again: compare agent-server keys list'
    assert.not.match((await restoreTo(before, join(folder, 'one'))).told, words)
    assert.match((await restoreTo(after, join(folder, 'two'))).told, words)
    assert.match((await runKeys(join(folder, 'two'), ['list'])).printed, /^ci /m)
  },
))

test('a log is a whole again after many pieces, and pieces without use are removed', withRecorded(
  async (dataDir, folder) => {
    const [backup, place] = [join(folder, 'backup'), join(folder, 'restored')]
    const counts: number[] = []
    for (let round = 0; round < 35; round++) {
      appendLines(logOf(dataDir))
      await backUpTo(dataDir, backup)
      const lines: unknown[] = readFileSync(join(backup, 'manifest.jsonl'), 'utf8').trim().split('\n')
        .map((line) => JSON.parse(line))
      const piecesOf = (line: unknown): unknown[] => {
        const list = member(line, 'pieces')
        return Array.isArray(list) ? list : []
      }
      const log = lines.find((line) => member(line, 'path') === logOf(dataDir).slice(dataDir.length + 1))
      counts.push(piecesOf(log).length)
      const used = new Set(lines.flatMap(piecesOf).map((piece) => member(piece, 0)))
      assert.equal(readdirSync(join(backup, 'files')).sort(), [...used].sort())
    }
    assert.equal(counts, [...Array.from({ length: 32 }, (_, at) => at + 1), 1, 2, 3])
    await restoreTo(backup, place)
    assert.is(readFileSync(logOf(place), 'utf8'), readFileSync(logOf(dataDir), 'utf8'))
  },
))

test('a line that is being written is cut off, and a log without a line is left out', withRecorded(
  async (dataDir, folder) => {
    const before = readFileSync(logOf(dataDir), 'utf8')
    appendFileSync(logOf(dataDir), before.slice(0, 100))
    mkdirSync(join(dataDir, 'conversations', '11111111-2222-4333-8444-555555555555'))
    writeFileSync(logOf(dataDir, '11111111-2222-4333-8444-555555555555'), before.slice(0, 50))
    await backUpTo(dataDir, join(folder, 'backup'))
    await restoreTo(join(folder, 'backup'), join(folder, 'restored'))
    assert.is(readFileSync(logOf(join(folder, 'restored')), 'utf8'), before)
    assert.is(readdirSync(join(folder, 'restored', 'conversations')).length, 5)
  },
))

test('a log that was cut back and continued is stored anew', withRecorded(async (dataDir, folder) => {
  const [backup, place] = [join(folder, 'backup'), join(folder, 'restored')]
  const before = readFileSync(logOf(dataDir), 'utf8')
  appendLines(logOf(dataDir), 3)
  await backUpTo(dataDir, backup)
  // A repair after a full disk cuts the log in place, and other lines follow.
  writeFileSync(logOf(dataDir), before)
  writeFileSync(logOf(dataDir), before.trimEnd().split('\n').slice(0, -1).map((line) => `${line}\n`).join(''))
  appendLines(logOf(dataDir), 9)
  await backUpTo(dataDir, backup)
  await restoreTo(backup, place)
  assert.is(readFileSync(logOf(place), 'utf8'), readFileSync(logOf(dataDir), 'utf8'))
}))

type BadWords = readonly [
  command: typeof runBackup, words: readonly string[], flags: Record<string, string>, map: string[], message: string,
]

const badWords: readonly BadWords[] = [
  [runBackup, [], {}, [], 'expected a folder, or - for a tar archive'],
  [runBackup, ['a', 'b'], {}, [], '"b"'],
  [runRestore, [], {}, [], 'expected a backup'],
  [runRestore, ['a'], {}, [], 'expected --to FOLDER'],
  [runRestore, ['a', 'b'], { to: 'c' }, [], '"b"'],
  [runRestore, ['a'], { to: 'c' }, ['/a'], 'expected two absolute paths'],
  [runRestore, ['a'], { to: 'c' }, ['a=/b'], 'expected two absolute paths'],
  [runRestore, ['a'], { to: 'c' }, ['/a=/b', '/a/=/c'], '"/a" is there twice'],
]

for (const [command, words, flags, map, message] of badWords) {
  test(`refuses ${JSON.stringify({ words, flags, map })}`, () => inFolder(async (folder) => {
    const said = await refusal(run(command, folder, words, { flags, map }))
    assert.match(said, 'invalid_option: ')
    assert.match(said, message)
  }))
}

test('refuses folders that are not for backups, and writes nothing there', withRecorded(async (dataDir, folder) => {
  for (const inside of [dataDir, join(dataDir, 'b'), join(dataDir, 'runtime', 'b'), folder]) {
    assert.match(await refusal(backUpTo(dataDir, inside)), 'expected a folder outside of the data folder')
  }
  symlinkSync(dataDir, join(folder, 'link'))
  const linked = await refusal(backUpTo(dataDir, join(folder, 'link', 'b')))
  assert.match(linked, 'expected a folder outside of the data folder')
  mkdirSync(join(folder, 'full'))
  writeFileSync(join(folder, 'full', 'letter.txt'), 'of somebody')
  assert.match(await refusal(backUpTo(dataDir, join(folder, 'full'))), /^conflict: .*it holds "letter.txt"/)
  mkdirSync(join(folder, 'open'))
  chmodSync(join(folder, 'open'), 0o777)
  assert.match(await refusal(backUpTo(dataDir, join(folder, 'open'))), 'other users may write it')
  assert.match(await refusal(backUpTo(join(folder, 'full'), join(folder, 'b'))), 'format_unsupported: ')
  assert.match(await refusal(backUpTo(join(folder, 'none'), join(folder, 'b'))), 'not_found: ')
  symlinkSync('/tmp', join(dataDir, 'elsewhere'))
  assert.match(await refusal(backUpTo(dataDir, join(folder, 'c'))), 'Cannot back up "elsewhere" of the data folder')
  assert.equal(readdirSync(join(folder, 'full')), ['letter.txt'])
  assert.not.ok(existsSync(join(folder, 'b')))
}))

test('a path that cannot be used is named with the reason', withRecorded(async (dataDir, folder) => {
  const [backup, loop, link] = [join(folder, 'backup'), join(folder, 'loop'), join(folder, 'link.tar')]
  symlinkSync(loop, loop)
  writeFileSync(join(folder, 'backup.tar'), '')
  symlinkSync(join(folder, 'backup.tar'), link)
  const into = `storage_failed: Cannot use "${loop}/b" for the backup: ELOOP`
  assert.is(await refusal(backUpTo(dataDir, join(loop, 'b'))), into)
  await backUpTo(dataDir, backup)
  assert.is(await refusal(restoreTo(backup, join(loop, 'r'))), `storage_failed: Cannot restore to "${loop}/r": ELOOP`)
  for (const from of [loop, link]) {
    const said = `storage_failed: Cannot read the backup at "${from}": ELOOP`
    assert.is(await refusal(restoreTo(from, join(folder, 'new'))), said)
  }
}))

test('one backup at a time is written into a folder, and none while it is restored from', withRecorded(
  async (dataDir, folder) => {
    const backup = join(folder, 'backup')
    await backUpTo(dataDir, backup)
    const lock = await lockFolder(backup, { clock: Date.now, onLost: () => undefined })
    assert.match(await refusal(backUpTo(dataDir, backup)), /^owned_by_another: .*another backup into ".*" is running/)
    const said = await refusal(restoreTo(backup, join(folder, 'r')))
    assert.match(said, /^owned_by_another: .*a backup into ".*" is running/)
    await lock.release()
    assert.is((await backUpTo(dataDir, backup)).code, 0)
  },
))

test('refuses to restore to a folder with something in it, and names the server that has it', withRecorded(
  async (dataDir, folder) => {
    const [backup, place] = [join(folder, 'backup'), join(folder, 'restored')]
    await backUpTo(dataDir, backup)
    const lock = await lockFolder(dataDir, { clock: Date.now, onLost: () => undefined })
    assert.match(await refusal(restoreTo(backup, dataDir)), new RegExp(`^owned_by_another: .*process ${process.pid} `))
    await lock.release()
    await restoreTo(backup, place)
    assert.match(await refusal(restoreTo(backup, place)), /^conflict: .*expected a new or empty folder/)
    mkdirSync(join(folder, 'full'))
    writeFileSync(join(folder, 'full', 'letter.txt'), 'of somebody')
    assert.match(await refusal(restoreTo(backup, join(folder, 'full'))), 'it holds "letter.txt"')
    assert.match(await refusal(restoreTo(join(folder, 'full'), join(folder, 'new'))), 'not_found: There is no backup')
    assert.match(await refusal(restoreTo(join(folder, 'none'), join(folder, 'new'))), 'not_found: There is no backup')
    assert.not.ok(existsSync(join(folder, 'new')))
  },
))

test('a dry run finds each damaged piece, and writes nothing', withRecorded(async (dataDir, folder) => {
  const [backup, place] = [join(folder, 'backup'), join(folder, 'new')]
  await backUpTo(dataDir, backup)
  const dry = { flags: { 'dry-run': 'true' } }
  assert.match((await restoreTo(backup, place, dry)).printed, 'Sound: a backup of ')
  for (const name of readdirSync(join(backup, 'files'))) {
    const path = join(backup, 'files', name)
    const before = readFileSync(path)
    const damaged = Buffer.from(before)
    damaged[0] = (damaged[0] ?? 0) ^ 1
    writeFileSync(path, damaged)
    assert.match(await refusal(restoreTo(backup, place, dry)), 'its digest is wrong')
    writeFileSync(path, before)
  }
  assert.not.ok(existsSync(place))
}))

/** The path of the piece that is the whole log of the conversation. */
function pieceOfLog(dataDir: string, backup: string): string {
  const content = readFileSync(logOf(dataDir))
  const names = readdirSync(join(backup, 'files')).map((name) => join(backup, 'files', name))
  return names.find((name) => readFileSync(name).equals(content)) ?? ''
}

test('a restore that finds damage stops, no server starts there, and a whole copy of the backup continues it',
  withRecorded(async (dataDir, folder) => {
    const [backup, place] = [join(folder, 'backup'), join(folder, 'restored')]
    await backUpTo(dataDir, backup)
    const path = pieceOfLog(dataDir, backup)
    const before = readFileSync(path)
    writeFileSync(path, before.subarray(1))
    assert.match(await refusal(restoreTo(backup, place)), 'events.jsonl" is damaged')
    const { code } = await runToEnd(['serve', '--port', '0', '--data-dir', place], folder)
    assert.is(code, 5)
    await backUpTo(dataDir, join(folder, 'other'))
    const other = await refusal(restoreTo(join(folder, 'other'), place))
    assert.match(other, 'a restore of another backup has begun there')
    writeFileSync(path, before)
    assert.is((await restoreTo(backup, place)).code, 0)
    assert.equal(contentOf(place), contentOf(dataDir))
  }))

test('a piece that was lost or cut is stored again by the next backup', withRecorded(async (dataDir, folder) => {
  const backup = join(folder, 'backup')
  await backUpTo(dataDir, backup)
  writeFileSync(pieceOfLog(dataDir, backup), 'short')
  await backUpTo(dataDir, backup)
  const dry = { flags: { 'dry-run': 'true' } }
  assert.is((await restoreTo(backup, join(folder, 'new'), dry)).code, 0)
  writeFileSync(join(backup, 'manifest.jsonl'), '{}\n')
  assert.match(await refusal(restoreTo(backup, join(folder, 'new'))), 'storage_failed: ')
  assert.match((await backUpTo(dataDir, backup)).told, 'Everything is copied again')
  assert.is((await restoreTo(backup, join(folder, 'new'), dry)).code, 0)
}))

test('reads a tar file, and an archive that tar(1) has made of the folder', withRecorded(async (dataDir, folder) => {
  const { bytes } = await backUpTo(dataDir, '-')
  writeFileSync(join(folder, 'own.tar'), bytes)
  execFileSync('tar', ['-tf', join(folder, 'own.tar')])
  await backUpTo(dataDir, join(folder, 'backup'))
  // A later backup was killed.
  for (const name of ['owner.json', 'partial/1', '.manifest.jsonl.1f.tmp']) {
    writeFileSync(join(folder, 'backup', name), 'x'.repeat(600))
  }
  execFileSync('tar', ['-cf', join(folder, 'packed.tar'), '-C', join(folder, 'backup'), '.'])
  for (const name of ['own', 'packed']) {
    assert.is((await restoreTo(join(folder, `${name}.tar`), join(folder, name))).code, 0)
    assert.equal(contentOf(join(folder, name)), contentOf(dataDir))
    assert.not.ok(readdirSync(join(folder, name)).includes('restoring'))
  }
  const dry = { flags: { 'dry-run': 'true' }, input: Readable.from([bytes]) }
  assert.match((await restoreTo('-', join(folder, 'new'), dry)).printed, 'Sound: ')
  assert.not.ok(existsSync(join(folder, 'new')))
}))

test.run()
