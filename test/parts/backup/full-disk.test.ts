/** Backups and restores on a disk that is really full. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { programFile } from '../../support/program-file.ts'
import { runToEnd } from '../../support/server.ts'
import { mountRefusal, withSmallDisk, type SmallDisk } from '../../support/small-disk.ts'
import { suite } from '../../support/suite.ts'
import { backUpTo, refusal, restoreTo } from './commands.ts'
import { appendLines, copyRecorded, logOf } from './recorded.ts'

const test = suite('parts/backup: full disk')
const refused = mountRefusal()
const dry = { flags: { 'dry-run': 'true' } }

/** `body` gets a data folder of more than a megabyte, and a folder on a disk of a megabyte. */
function testOnDisk(name: string, body: (dataDir: string, folder: string, disk: SmallDisk) => Promise<void>): void {
  if (refused !== undefined) return test.skip(name, `no file system can be mounted here: ${refused}`)
  test(name, withSmallDisk('size=1m', async (_, disk) => {
    const dataDir = join(disk.folder, 'source')
    copyRecorded(dataDir)
    appendLines(logOf(dataDir), 20_000)
    await body(dataDir, join(disk.folder, 'data', 'backup'), disk)
  }))
}

testOnDisk('the first backup ends with exit code 5, and is continued', async (dataDir, backup, disk) => {
  const ended = await runToEnd(['backup', backup, '--data-dir', dataDir], disk.folder)
  assert.equal([ended.code, ended.stdout], [5, ''])
  assert.match(ended.stderr, /^agent-server: Cannot write the backup into ".*": the disk is full\n$/)
  assert.not.ok(existsSync(join(backup, 'manifest.jsonl')))
  assert.equal(readdirSync(join(backup, 'partial')), [])
  assert.match(await refusal(restoreTo(backup, join(disk.folder, 'to'))), 'was interrupted; run it again')
  disk.remount('size=16m')
  assert.is((await backUpTo(dataDir, backup)).code, 0)
  assert.is((await restoreTo(backup, join(disk.folder, 'to'))).code, 0)
  assert.is((await runToEnd(['verify', '--data-dir', join(disk.folder, 'to')], disk.folder)).code, 0)
})

testOnDisk('a backup that does not fit leaves the former one whole', async (dataDir, backup, disk) => {
  disk.remount('size=16m')
  await backUpTo(dataDir, backup)
  const former = (await restoreTo(backup, join(disk.folder, 'to'), dry)).printed
  disk.fill()
  appendLines(logOf(dataDir), 20_000)
  const said = await refusal(backUpTo(dataDir, backup))
  assert.match(said, /^storage_full: Cannot write the backup into .*the disk is full/)
  assert.is((await restoreTo(backup, join(disk.folder, 'to'), dry)).printed, former)
  disk.clear()
  await backUpTo(dataDir, backup)
  assert.is.not((await restoreTo(backup, join(disk.folder, 'to'), dry)).printed, former)
})

testOnDisk('a tar archive on a full disk is an error, and is not taken for a backup', async (dataDir, backup, disk) => {
  const descriptor = openSync(`${backup}.tar`, 'w')
  const child = spawn(process.execPath, [programFile, 'backup', '-', '--data-dir', dataDir], {
    stdio: ['ignore', descriptor, 'pipe'], env: { PATH: process.env['PATH'], HOME: disk.folder },
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = await once(child, 'close')
  closeSync(descriptor)
  assert.is(code, 5, said)
  assert.match(said, 'the disk is full')
  assert.match(await refusal(restoreTo(`${backup}.tar`, join(disk.folder, 'to'), dry)), 'it is cut off')
})

testOnDisk('a restore that does not fit is refused, and continued after', async (dataDir, place, disk) => {
  const backup = join(disk.folder, 'backup')
  await backUpTo(dataDir, backup)
  assert.match(await refusal(restoreTo(backup, place)), /^storage_full: .* bytes are needed, .* are free/)
  assert.equal(readdirSync(place).sort(), ['lock', 'restoring.json'])
  const { bytes } = await backUpTo(dataDir, '-')
  const tar = async function* (): AsyncGenerator<Buffer, void> { yield bytes }
  assert.match(await refusal(restoreTo('-', place, { input: tar() })), 'storage_full: ')
  disk.remount('size=16m')
  assert.is((await restoreTo('-', place, { input: tar() })).code, 0)
  assert.is((await runToEnd(['verify', '--data-dir', place], disk.folder)).code, 0)
})

test.run()
