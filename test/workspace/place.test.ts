import { mkdir, mkdtemp, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { AppError, messageOf } from '../../src/base/errors.ts'
import { preparePlace } from '../../src/workspace/place.ts'

const test = suite('workspace/place')
const id = '00000000-0000-4000-8000-000000000001'

interface Setup {
  readonly root: string
  readonly data: string
  readonly workspaces: string
  place(requested?: string): Promise<string>
}

async function withFolders(body: (setup: Setup) => Promise<void>): Promise<void> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'place-')))
  const data = join(root, 'server', 'data')
  const workspaces = join(root, 'workspaces')
  await mkdir(join(data, 'keys'), { recursive: true })
  // Nobody asks git for anything here: every folder is inside a repository.
  await mkdir(join(root, '.git'))
  const options = { workspaceDir: workspaces, privateDirs: [data] }
  try {
    await body({ root, data, workspaces, place: (requested) => preparePlace(requested, id, options) })
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

test('without a wish it is a folder of its own, made when it is needed', async () => {
  await withFolders(async ({ workspaces, place }) => {
    const path = await place()
    assert.is(path, join(workspaces, id.replaceAll('-', '')))
    assert.ok((await stat(path)).isDirectory())
    assert.is(await place(), path)
  })
})

test('an absolute path is taken, a relative one begins at the workspace folder', async () => {
  await withFolders(async ({ root, workspaces, place }) => {
    assert.is(await place(join(root, 'a', 'b')), join(root, 'a', 'b'))
    assert.is(await place('c/d'), join(workspaces, 'c', 'd'))
    assert.is(await place('../e/./f'), join(root, 'e', 'f'))
    for (const path of ['a/b', 'workspaces/c/d', 'e/f']) assert.ok((await stat(join(root, path))).isDirectory())
  })
})

test('a folder that is there stays as it is', async () => {
  await withFolders(async ({ root, place }) => {
    await mkdir(join(root, 'mine'))
    await writeFile(join(root, 'mine', 'file'), 'x')
    await place(join(root, 'mine'))
    assert.equal(await readdir(join(root, 'mine')), ['file'])
  })
})

const forbidden: readonly (readonly [what: string, path: (setup: Setup) => string])[] = [
  ['the data folder', ({ data }) => data],
  ['a folder in it', ({ data }) => join(data, 'keys')],
  ['a folder in it that is not there', ({ data }) => join(data, 'new', 'one')],
  ['the folder above it', ({ root }) => join(root, 'server')],
  ['the root', () => '/'],
  ['a relative path to it', ({ workspaces, data }) => relative(workspaces, data)],
  ['a path with dots to it', ({ data }) => `${data}/../data/./keys`],
  ['a link to it', ({ root }) => join(root, 'link')],
  ['a folder behind a link to it', ({ root }) => join(root, 'link', 'keys')],
  ['a folder that is not there behind a link to it', ({ root }) => join(root, 'link', 'new')],
  ['a link to the folder above it', ({ root }) => join(root, 'above')],
]
for (const [what, path] of forbidden) {
  test(`refuses ${what}`, async () => {
    await withFolders(async (setup) => {
      await symlink(setup.data, join(setup.root, 'link'))
      await symlink(join(setup.root, 'server'), join(setup.root, 'above'))
      const before = await readdir(setup.data, { recursive: true })
      assert.match(await refusal(setup.place(path(setup))), "it holds the server's own data, or is inside it")
      assert.equal(await readdir(setup.data, { recursive: true }), before)
    })
  })
}

test('a neighbour whose name begins like the data folder is allowed', async () => {
  await withFolders(async ({ data, place }) => {
    assert.is(await place(`${data}-other`), `${data}-other`)
    assert.is(await place(join(data, '..', '..data')), join(data, '..', '..data'))
  })
})

test('a data folder behind a link is found as well', async () => {
  await withFolders(async ({ root, data }) => {
    await symlink(data, join(root, 'data-link'))
    const options = { workspaceDir: root, privateDirs: [join(root, 'data-link')] }
    assert.match(await refusal(preparePlace(join(data, 'keys'), id, options)), "the server's own data")
  })
})

const impossible: readonly (readonly [what: string, path: string, why: string])[] = [
  ['a file', 'file', 'it is not a folder'],
  ['a folder below a file', 'file/sub', 'a part of the path is not a folder'],
  ['a link to nothing', 'nowhere', 'it cannot be made there'],
  ['links in a circle', 'circle/x', 'the path goes through too many links'],
  ['a name that is too long', 'x'.repeat(300), 'the path is too long'],
  ['a NUL character', 'a\0b', 'it holds a NUL character'],
]
for (const [what, path, why] of impossible) {
  test(`refuses ${what}`, async () => {
    await withFolders(async ({ workspaces, root, place }) => {
      await mkdir(workspaces)
      await writeFile(join(workspaces, 'file'), '')
      await symlink(join(root, 'missing', 'folder'), join(workspaces, 'nowhere'))
      await symlink(join(workspaces, 'circle'), join(workspaces, 'circle'))
      assert.match(await refusal(place(path)), why)
      assert.not.ok((await readdir(root)).includes('missing'))
    })
  })
}

test('refuses what the system does not let it make, in a message of limited length', async () => {
  await withFolders(async ({ place }) => {
    const message = await refusal(place(`/proc/${'x'.repeat(200)}/${'y'.repeat(2000)}`))
    assert.match(message, 'Cannot use "/proc/')
    assert.ok(message.length < 700)
    assert.match(await refusal(place('/proc/nothing/at/all')), /cannot be made|may not write|not a folder|read-only/)
  })
})

async function refusal(work: Promise<string>): Promise<string> {
  const thrown = await work.then((path) => new Error(`it was taken: ${path}`), (reason: unknown) => reason)
  assert.is(thrown instanceof AppError ? thrown.code : messageOf(thrown), 'invalid_input')
  return messageOf(thrown)
}

test.run()
