/**
 * Where secrets stand in plain while they are used: in memory, in a folder that nobody else can enter, found again
 * after a kill.
 */
import {
  chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { emptyLeft, findMemory, SecretFolder } from '../../src/process/secret-folder.ts'
import { makeFolder } from '../support/processes.ts'
import { suite } from '../support/suite.ts'

const test = suite('process/secret-folder')

interface World {
  readonly runtimeDir: string
  /** Its path in the memory of all users. */
  readonly shared: string
  readonly instance: string
  open(environment?: Readonly<Record<string, string>>, sharedMemory?: string): SecretFolder
}

function inWorld(body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const instance = `test-${randomUUID()}`
    const runtimeDir = join(folder, 'runtime')
    const shared = join('/dev/shm', `agent-server-${instance}`)
    try {
      await body({
        runtimeDir,
        shared,
        instance,
        open: (environment = {}, sharedMemory = '/dev/shm') =>
          new SecretFolder({ instance, environment, runtimeDir, sharedMemory }),
      })
    } finally {
      rmSync(shared, { recursive: true, force: true })
      remove()
    }
  }
}

test('without a file system in memory it is the runtime folder', inWorld(async ({ open, runtimeDir }) => {
  const folder = open({ XDG_RUNTIME_DIR: '/usr' }, '/usr')
  assert.is(await folder.make(), runtimeDir)
  assert.is(lstatSync(runtimeDir).mode & 0o777, 0o700)
  assert.equal(await folder.left(), [runtimeDir])
  assert.is(await findMemory({ XDG_RUNTIME_DIR: 'relative' }, '/usr'), undefined)
}))

// The test above stands in for a system without a file system in memory.
if (await findMemory({}) === undefined) {
  test.skip('memory', 'there is no /dev/shm here')
} else {
  test('is made in memory for its user alone, again when it is gone, and taken away when it is empty', inWorld(async (
    { open, shared, runtimeDir },
  ) => {
    const folder = open()
    for (let time = 0; time < 2; time++) {
      assert.is(await folder.make(), shared)
      assert.is(await folder.make(), shared)
      assert.is(lstatSync(shared).mode & 0o777, 0o700)
      rmSync(shared, { recursive: true })
    }
    await folder.make()
    writeFileSync(join(shared, 'file'), '')
    await folder.close()
    assert.ok(existsSync(shared))
    rmSync(join(shared, 'file'))
    await folder.close()
    assert.not.ok(existsSync(shared))
    assert.equal(folder.paths, [shared, runtimeDir])
  }))

  test('prefers the folder of the user, and finds it again without the variable that named it', inWorld(async (
    { open, shared, runtimeDir, instance },
  ) => {
    const own = join('/dev/shm', `own-${randomUUID()}`)
    mkdirSync(own, { mode: 0o700 })
    try {
      const place = join(own, `agent-server-${instance}`)
      assert.is(await open({ XDG_RUNTIME_DIR: own }).make(), place)
      assert.equal(await open().left(), [place, runtimeDir])
      writeFileSync(join(runtimeDir, 'secret-folder.json'), JSON.stringify({ path: own }))
      assert.equal(await open().left(), [runtimeDir])
      rmSync(own, { recursive: true })
      assert.is(await open({ XDG_RUNTIME_DIR: own }).make(), shared)
    } finally {
      rmSync(own, { recursive: true, force: true })
    }
  }))

  const squatters: readonly (readonly [who: string, make: (path: string) => void])[] = [
    ['a link', (path) => symlinkSync('/tmp', path)],
    ['a file', (path) => writeFileSync(path, '', { mode: 0o600 })],
    ['a folder that others may enter', (path) => {
      mkdirSync(path)
      chmodSync(path, 0o755)
    }],
    ...(process.getuid?.() === 0 ? [['a folder of another user', (path: string) => {
      mkdirSync(path, { mode: 0o700 })
      chownSync(path, 65_534, 65_534)
    }] as const] : []),
  ]
  for (const [who, make] of squatters) {
    test(`neither uses nor takes away what somebody else has put in its place: ${who}`, inWorld(async (
      { open, shared, runtimeDir },
    ) => {
      make(shared)
      const folder = open()
      assert.is(await folder.make(), runtimeDir)
      assert.equal(await folder.left(), [runtimeDir])
      await folder.close()
      assert.ok(lstatSync(shared))
    }))
  }
}

test('removes what is left by its names, and nothing else', inWorld(async ({ runtimeDir }) => {
  const id = randomUUID()
  const left = [
    'lent-aB3dE6', 'home-aB3dE6', `shell-${id}`, `browser-${id}`, 'secret-folder.json',
    '.secret-folder.json.0123456789ab.tmp',
  ]
  const others = ['lent-mine', 'home', 'shell-of-mine', 'notes', 'lent-kept00']
  for (const name of [...left, ...others]) mkdirSync(join(runtimeDir, name), { recursive: true })
  await emptyLeft(runtimeDir, (name) => name === 'lent-kept00')
  assert.equal(readdirSync(runtimeDir).sort(), others.sort())
}))

test.run()
