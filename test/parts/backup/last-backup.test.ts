/** The record of the newest backup: who writes it, the words of `doctor` about it, and the age in the metrics. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { examineBackups, noteBackup } from '../../../src/parts/backup/last-backup.ts'
import { inFolder, until } from '../../support/processes.ts'
import { readMetrics, valueOf } from '../../support/prometheus-text.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { backUpTo, restoreTo } from './commands.ts'

const test = suite('parts/backup/last-backup')

const day = 86_400_000

/** The state, the text and the advice of the finding. */
async function told(dataDir: string, now = Date.now()): Promise<string> {
  const { state, text, advice } = await examineBackups(dataDir, now)
  return [`${state}: ${text}`, ...(advice === '' ? [] : [advice])].join(' / ')
}

function recordOf(dataDir: string): string {
  return join(dataDir, 'backup-last.json')
}

async function ageIn({ rest }: TestServer): Promise<number | undefined> {
  return valueOf(readMetrics((await rest.get('/metrics')).text), 'agent_server_backup_age_seconds')
}

test('a backup is noted with its time and its folder; doctor says how old it is', () => withServer(async (server) => {
  const { dataDir, folder } = server
  assert.match(await told(dataDir), /^note: none is known: .* \/ run agent-server backup/)
  const made = await backUpTo(dataDir, join(folder, 'backup'), { flags: { json: 'true' } })
  assert.is(JSON.parse(made.printed).noted, true)
  assert.is(await told(dataDir), `ok: the newest began less than an hour ago, ${join(folder, 'backup')}`)
  const later = (ms: number): Promise<string> => told(dataDir, Date.now() + ms)
  assert.match(await later(day), 'ok: the newest began 24 hours ago')
  assert.match(await later(6.9 * day), 'ok: the newest began 6 days ago')
  assert.match(await later(7.1 * day), /^note: the newest began 7 days ago, .* \/ see why agent-server backup does not/)
  await backUpTo(dataDir, '-')
  assert.match(await told(dataDir), 'ago, an archive on standard output')
}))

test('a backup has no record of a backup, so a restored folder knows of none', () => withServer(async (server) => {
  const [backup, restored] = [join(server.folder, 'backup'), join(server.folder, 'restored')]
  for (const _ of [1, 2]) await backUpTo(server.dataDir, backup)
  assert.not.match(readFileSync(join(backup, 'manifest.jsonl'), 'utf8'), 'backup-last')
  await restoreTo(backup, restored)
  assert.is(existsSync(recordOf(restored)), false)
}))

test('a record that cannot be written is told, and the backup is done all the same', () => withServer(
  async (server) => {
    const { dataDir, folder } = server
    // A folder in the place of the record cannot be replaced, by any user.
    mkdirSync(recordOf(dataDir))
    const made = await backUpTo(dataDir, join(folder, 'backup'))
    assert.is(made.code, 0)
    assert.match(made.told, /The backup is not noted in the data folder and unknown to doctor: Cannot write "backup-/)
    assert.match(await told(dataDir), /^note: Cannot read "backup-last.json".* \/ make a backup/)
  },
))

test('another user than the owner writes no record', () => inFolder(async (folder) => {
  const getuid = process.getuid
  try {
    process.getuid = () => 4711
    assert.is(await noteBackup(folder, { made: new Date().toISOString(), to: '/backup' }), 'the folder belongs to ' +
      'another user')
  } finally {
    Object.assign(process, { getuid })
  }
  assert.is(existsSync(recordOf(folder)), false)
}))

test('a record is replaced where a link is in its place; a damaged one is told', () => inFolder(async (folder) => {
  const [dataDir, other] = [join(folder, 'data'), join(folder, 'other')]
  mkdirSync(dataDir)
  writeFileSync(other, 'mine')
  symlinkSync(other, recordOf(dataDir))
  assert.is(await noteBackup(dataDir, { made: '2026-11-01T00:00:00.000Z', to: '-' }), undefined)
  assert.is(readFileSync(other, 'utf8'), 'mine')
  for (const content of ['', '{', '[]', '{"made":7}', '{"made":"soon"}', ' '.repeat(70_000)]) {
    writeFileSync(recordOf(dataDir), content)
    assert.match(await told(dataDir), /^note: .*"backup-last.json".* \/ make a backup as the owner/)
  }
  chmodSync(dataDir, 0o700)
}))

test('the metrics have the age of a backup that was made while the server runs', async () => {
  let now = Date.now()
  await withServer(async (server) => {
    assert.is(await ageIn(server), undefined)
    await backUpTo(server.dataDir, join(server.folder, 'backup'))
    now += 90_000
    await until(async () => await ageIn(server) !== undefined)
    const age = await ageIn(server) ?? 0
    assert.ok(age > 60 && age < 90.001, String(age))
    now += day
    assert.ok((await ageIn(server) ?? 0) > 86_400)
  }, { metrics: true, clock: () => now })
})

test.run()
