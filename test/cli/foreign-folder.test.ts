/** A data folder of another user: each command that writes into it refuses it, and changes nothing. */
import {
  chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  assertOwnDataFolder, assertOwnFolder, claimDataFolder, isDataFolder, ownerProblem,
} from '../../src/storage/data-folder-claim.ts'
import { RestoreFolder } from '../../src/parts/backup/restore-folder.ts'
import { failure } from '../storage/samples.ts'
import { inFolder } from '../support/processes.ts'
import { runToEnd } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli: a data folder of another user')

const nobody = 65_534
/** True for a root that may give files away; false for a root of a user namespace with one user. */
const isRoot = mayGiveAway()

function mayGiveAway(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'owner-'))
  try {
    chownSync(folder, nobody, nobody)
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns a data folder of another user, which only root can make. */
async function foreignFolder(folder: string): Promise<string> {
  const data = join(folder, 'data')
  await claimDataFolder(data)
  for (const path of [data, join(data, 'format.json')]) chownSync(path, nobody, nobody)
  return data
}

test('the owner may, another user may not, and an unknown user may', () => {
  assert.is(ownerProblem(4711, 4711), undefined)
  assert.is(ownerProblem(0, 0), undefined)
  assert.is(ownerProblem(undefined, 0), undefined)
  assert.is(ownerProblem(4711, undefined), undefined)
  assert.match(ownerProblem(4711, 0) ?? '', /the user 4711, and this is the user 0; run .*sudo -u '#4711'.*chown -R/)
  assert.match(ownerProblem(0, 4711) ?? '', /the user 0, and this is the user 4711; change the owner/)
})

const commands: readonly (readonly string[])[] = [
  [],
  ['keys', 'add', 'ci', '--scopes', 'read'],
  ['keys', 'revoke', 'ci'],
  ['sealing-keys', 'rotate'],
  ['prune', '--retain-count', '3'],
  ['agents', 'install', 'codex'],
]

test('the program refuses to write into it with exit code 5, names the owner and the remedy, and leaves it as it was',
  () => inFolder(async (folder) => {
    if (!isRoot) return
    const data = await foreignFolder(folder)
    const owner = statSync(data).uid
    const before = readdirSync(data)
    for (const words of commands) {
      const { code, stdout, stderr } = await runToEnd([...words, '--data-dir', data], folder)
      assert.equal([code, stdout], [5, ''], `${words.join(' ')}: ${stderr}`)
      assert.match(stderr, `it belongs to the user ${owner}, and this is the user ${process.geteuid?.()}`)
    }
    assert.equal(readdirSync(data), before)
  }))

test('nobody is told to change the owner of a folder that is no data folder', () => inFolder(async (folder) => {
  const data = isRoot ? join(folder, 'home') : '/etc'
  if (isRoot) {
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(join(data, 'letter.txt'), 'Dear friend')
    chownSync(data, nobody, nobody)
  }
  for (const words of commands) {
    const { code, stderr } = await runToEnd([...words, '--data-dir', data], folder)
    assert.is(code, 5, words.join(' '))
    assert.match(stderr, 'it is no data folder')
    assert.not.match(stderr, 'chown')
  }
}))

test('a claim and a restore refuse it before a file is made, and a missing folder is nobody\'s', () => inFolder(async (folder) => {
  if (isRoot) {
    const data = join(folder, 'empty')
    mkdirSync(data, { mode: 0o700 })
    chownSync(data, nobody, nobody)
    for (const attempt of [claimDataFolder, assertOwnFolder, assertOwnDataFolder]) {
      const { code, message } = await failure(attempt(data))
      assert.is(code, 'storage_failed')
      assert.match(message, `Cannot use "${data}": it belongs to the user ${nobody}`)
    }
    const { message } = await failure(RestoreFolder.withFolder(data, async () => undefined))
    assert.match(message, `belongs to the user ${nobody}`)
    assert.equal(readdirSync(data), [])
  }
  const missing = join(folder, 'missing')
  await assertOwnFolder(missing)
  assert.is((await failure(assertOwnDataFolder(missing))).code, 'not_found')
  assert.is(existsSync(missing), false)
}))

test('a user who may not read it is told the owner', () => inFolder(async (folder) => {
  const data = join(folder, 'data')
  await claimDataFolder(data)
  assert.is(await isDataFolder(data), true)
  if (!isRoot) return
  chmodSync(folder, 0o755)
  const seteuid = process.seteuid?.bind(process)
  try {
    seteuid?.(nobody)
    const { message } = await failure(isDataFolder(data))
    assert.match(message, `it belongs to the user 0, and this is the user ${nobody}`)
  } finally {
    seteuid?.(0)
  }
}))

test.run()
