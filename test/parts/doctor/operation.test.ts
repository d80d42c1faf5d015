/** The findings of `doctor` that are not about the machine: each finding in a sound and in a bad state. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { allParts, partOptions } from '../../../src/all-parts.ts'
import { createConfig, type ConfigInput } from '../../../src/config.ts'
import { examineMachine } from '../../../src/parts/doctor/machine.ts'
import { examineNamedKeys } from '../../../src/parts/keys/examine.ts'
import { claimDataFolder } from '../../../src/storage/data-folder-claim.ts'
import { inFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { runKeys } from '../keys/named.ts'

const test = suite('parts/doctor: what an operator must know')

interface Given extends Partial<ConfigInput> {
  readonly maxDisk?: number
  readonly retainDays?: number
  readonly audit?: string
}

/** The state and the text of a finding. */
async function finding(folder: string, subject: string, given: Given = {}, proc = '/proc'): Promise<string> {
  const folders = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work') }
  const config = createConfig({ ...folders, ...given }, partOptions)
  const parts = allParts.filter(({ name }) => ['backup', 'keys', 'audit', 'retention'].includes(name))
  const findings = await examineMachine({
    config, sealingKeyOptions: config, environment: { PATH: '/nowhere' }, parts, proc,
  })
  const found = findings.find((one) => one.subject === subject)
  return `${found?.state}: ${found?.text}${found?.advice === '' ? '' : ' / '}${found?.advice}`
}

test('space, lock, open files, clock and access are told', () => inFolder(async (folder) => {
  assert.match(await finding(folder, 'disk'), /\d+ MiB are free/)
  assert.match(await finding(folder, 'lock'), 'flock(1)')
  const proc = join(folder, 'proc')
  mkdirSync(join(proc, 'self'), { recursive: true })
  const limits = (count: string): void => {
    writeFileSync(join(proc, 'self', 'limits'), `Limit\nMax open files            ${count}       4096    files\n`)
  }
  limits('256')
  const few = 'note: a process may have 256 files open / raise the limit'
  assert.match(await finding(folder, 'open files', {}, proc), few)
  limits('unlimited')
  assert.match(await finding(folder, 'open files', {}, proc), 'ok: a process may have unlimited')
  assert.match(await finding(folder, 'access'), 'ok: clients of this machine')
  assert.match(await finding(folder, 'access', { noAuth: true }), 'note: no key is asked for')
  const open = { host: '0.0.0.0', sessionApiKeys: ['0123456789abcdef'] }
  assert.match(await finding(folder, 'access', open), 'note: other machines can reach the server at 0.0.0.0')
  assert.match(await finding(folder, 'clock'), 'ok: 20')
  mkdirSync(join(folder, 'data'))
  const later = Date.now() / 1000 + 86_400
  utimesSync(join(folder, 'data'), later, later)
  assert.match(await finding(folder, 'clock'), /note: .*but the data folder was changed at/)
}))

test('retention, limits, backups and the audit trail are told', () => inFolder(async (folder) => {
  assert.match(await finding(folder, 'retention'), 'ok: off')
  assert.match(await finding(folder, 'retention', { retainDays: 30 }), 'ok: keeps 30 days')
  assert.match(await finding(folder, 'audit trail'), 'ok: off')
  assert.match(await finding(folder, 'audit trail', { audit: 'required' }), 'ok: required')
  assert.match(await finding(folder, 'backup'), 'ok: none is known')
  assert.match(await finding(folder, 'limits'), 'ok: none for the whole server')
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data', 'ballast'), Buffer.alloc(1024 * 1024, 1))
  const little = 'ok: 100000000 bytes; the data folder has 2 MiB'
  assert.match(await finding(folder, 'limits', { maxDisk: 100_000_000 }), little)
  assert.match(await finding(folder, 'limits', { maxDisk: 1_100_000 }), /note: .*9\d %/)
  assert.match(await finding(folder, 'limits', { maxDisk: 1000 }), /problem: .*prune/)
}))

test('named keys that are over or end soon are told, and damaged ones', () => inFolder(async (folder) => {
  const dataDir = join(folder, 'data')
  assert.match(await finding(folder, 'named keys'), 'ok: 0, none')
  await claimDataFolder(dataDir)
  for (const [name, expires] of [['long', '90d'], ['soon', '10d'], ['first', '30m']] as const) {
    await runKeys(dataDir, ['add', name], { scopes: 'read', expires })
  }
  await runKeys(dataDir, ['add', 'always'], { scopes: 'read' })
  const { state, text } = await examineNamedKeys(dataDir, Date.now() + 3_600_000)
  assert.is(state, 'note')
  assert.match(text, /^over: first; end soon: soon \(\d{4}-\d\d-\d\d\)$/)
  writeFileSync(join(dataDir, 'named-keys', 'always.json'), '{}')
  assert.match(await finding(folder, 'named keys'), /problem: .*"always" is damaged/)
}))

test.run()
