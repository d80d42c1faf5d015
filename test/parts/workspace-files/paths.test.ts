import { mkdir, readdir, rename, rm, symlink, writeFile, readFile as readRaw, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openBelow, withFolders, type Folders } from '../../support/workspace.ts'
import { suite } from '../../support/suite.ts'
import { AppError } from '../../../src/base/errors.ts'
import { readFile, writeFile as writeContained } from '../../../src/parts/workspace-files/files.ts'
import { createWorkspace, pathError, type PlaceKind, type Workspace } from '../../../src/parts/workspace-files/paths.ts'

const test = suite('parts/workspace-files/paths')

/** Both ways of walking: by descriptors as on Linux, and by paths as elsewhere. */
const ways = process.platform === 'linux' ? [true, false] : [false]

async function inBothWays(body: (workspace: Workspace, folders: Folders) => Promise<void>): Promise<void> {
  for (const byDescriptor of ways) {
    await withFolders(async (folders) => {
      await body(createWorkspace({ workingDir: folders.workspace, privateDirs: [], byDescriptor }), folders)
      assert.equal(await openBelow(folders.root), [], 'a descriptor was left open')
    })
  }
}

async function kindAt(workspace: Workspace, path: string): Promise<readonly [string, PlaceKind]> {
  return workspace.at(path, async (place) => [place.path, place.kind])
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof AppError) return `${thrown.code}: ${thrown.message}`
    throw thrown
  }
  throw new Error('it was not refused')
}

test('a path is relative to the workspace or begins with it, and dots and slashes are taken out', async () => {
  await inBothWays(async (workspace, { workspace: dir }) => {
    await mkdir(join(dir, 'a', 'b'), { recursive: true })
    await writeFile(join(dir, 'a', 'file'), 'x')
    const file = [join(dir, 'a', 'file'), 'file'] as const
    for (const path of ['a/file', './a//file', 'a/b/../file', join(dir, 'a/file'), `/${dir}/./a/b/..//file`]) {
      assert.equal(await kindAt(workspace, path), file, path)
    }
    assert.equal(await kindAt(workspace, 'a/'), [join(dir, 'a'), 'directory'])
    assert.equal(await kindAt(workspace, '.'), [dir, 'directory'])
    assert.equal(await kindAt(workspace, dir), [dir, 'directory'])
    assert.equal(await kindAt(workspace, 'a/new'), [join(dir, 'a', 'new'), 'nothing'])
  })
})

test('a workspace that is reached by a link may be named by either path', async () => {
  await withFolders(async ({ root, workspace: dir }) => {
    await writeFile(join(dir, 'file'), 'x')
    await symlink(dir, join(root, 'link'))
    const workspace = createWorkspace({ workingDir: join(root, 'link'), privateDirs: [] })
    assert.equal(await kindAt(workspace, join(root, 'link', 'file')), [join(root, 'link', 'file'), 'file'])
    assert.equal(await kindAt(workspace, join(dir, 'file')), [join(root, 'link', 'file'), 'file'])
  })
})

test('a path goes through 40 links and no more', async () => {
  await inBothWays(async (workspace, { workspace: dir }) => {
    await writeFile(join(dir, 'link0'), 'x')
    for (let number = 1; number <= 41; number++) await symlink(`link${number - 1}`, join(dir, `link${number}`))
    assert.equal(await kindAt(workspace, 'link40'), [join(dir, 'link0'), 'file'])
    assert.match(await refusal(kindAt(workspace, 'link41')), /more than 40 links/)
  })
})

test('links are followed as long as they stay inside', async () => {
  await inBothWays(async (workspace, { workspace: dir, outside }) => {
    await mkdir(join(dir, 'a'))
    await writeFile(join(dir, 'a', 'file'), 'x')
    await symlink('a', join(dir, 'relative'))
    await symlink(join(dir, 'a'), join(dir, 'absolute'))
    await symlink('../relative/file', join(dir, 'a', 'chain'))
    await symlink('a/new', join(dir, 'dangling'))
    for (const path of ['relative/file', 'absolute/file', 'a/chain', 'absolute/chain']) {
      assert.equal(await kindAt(workspace, path), [join(dir, 'a', 'file'), 'file'], path)
    }
    assert.equal(await kindAt(workspace, 'dangling'), [join(dir, 'a', 'new'), 'nothing'])
    await symlink(outside, join(dir, 'out'))
    await symlink('../../outside/secret.txt', join(dir, 'a', 'out'))
    await symlink('loop', join(dir, 'loop'))
    for (const path of ['out', 'out/secret.txt', 'a/out', 'relative/out']) {
      assert.match(await refusal(kindAt(workspace, path)), /^invalid_input: .*outside the workspace/, path)
    }
    assert.match(await refusal(kindAt(workspace, 'loop')), /more than 40 links/)
  })
})

test('every refusal says why, in the words of the path as it was given', async () => {
  await inBothWays(async (workspace, { workspace: dir }) => {
    await writeFile(join(dir, 'file'), 'x')
    const refusals: readonly (readonly [string, RegExp])[] = [
      ['', /it is empty/],
      ['a\0b', /NUL/],
      ['..', /Cannot use the path "\.\.": it is outside the workspace/],
      ['a/../../workspace/file', /not_found|outside/],
      ['../workspace/file', /outside/],
      ['/etc/passwd', /outside/],
      [`${dir}-other/file`, /outside/],
      ['file/', /not a directory/],
      ['file/.', /not a directory/],
      ['file/x', /a part of it is not a directory/],
      ['missing/x', /not_found: Cannot find "missing\/x"/],
      ['x'.repeat(300), /a name in it is too long/],
      ['x/'.repeat(3000), /longer than 4096 bytes/],
    ]
    for (const [path, reason] of refusals) assert.match(await refusal(kindAt(workspace, path)), reason, path)
  })
})

test('a path that goes too deep is refused', async () => {
  await withFolders(async ({ workspace: dir }) => {
    const workspace = createWorkspace({ workingDir: dir, privateDirs: [] })
    const path = 'd/'.repeat(300)
    assert.match(
      await refusal(workspace.at(path, async () => undefined, { makeParents: true })), /deeper than 200 directories/,
    )
    assert.equal(await openBelow(dir), [])
  })
})

test('missing directories are made when that is asked for', async () => {
  await inBothWays(async (workspace, { workspace: dir }) => {
    const path = await workspace.at('a/b/file', async (place) => place.path, { makeParents: true })
    assert.is(path, join(dir, 'a', 'b', 'file'))
    assert.ok((await stat(join(dir, 'a', 'b'))).isDirectory())
  })
})

test('no directory is made for a missing name that the path leaves again', async () => {
  await inBothWays(async (workspace, { workspace: dir }) => {
    const place = { makeParents: true }
    const fails = async (): Promise<never> => {
      throw new AppError('storage_failed', 'the write failed')
    }
    await refusal(workspace.at('a/b/../../c/file', fails, place))
    assert.equal(await readdir(dir), [])
    assert.is(await workspace.at('a/b/../../c/d/../file', async ({ path }) => path, place), join(dir, 'c', 'file'))
    assert.equal(await readdir(dir, { recursive: true }), ['c'])
    assert.is(await workspace.at('a/../c/..', async ({ kind }) => kind, place), 'directory')
    assert.match(await refusal(workspace.at('a/../../file', fails, place)), /outside/)
    await mkdir(join(dir, 'deep', 'inner'), { recursive: true })
    await symlink('deep/inner', join(dir, 'link'))
    const linked = await workspace.at('missing/x/../../link/../file', async ({ path }) => path, place)
    assert.is(linked, join(dir, 'deep', 'file'))
  })
})

test("the server's own folders are refused, by whatever way they are reached", async () => {
  for (const byDescriptor of ways) {
    await withFolders(async ({ root, workspace: dir }) => {
      const data = join(dir, 'data')
      await mkdir(join(data, 'keys'), { recursive: true })
      await symlink('data', join(dir, 'link'))
      const workspace = createWorkspace({ workingDir: dir, privateDirs: [data, join(root, 'missing')], byDescriptor })
      for (const path of ['data', 'data/keys', 'link/keys/x', join(data, 'x')]) {
        assert.match(await refusal(kindAt(workspace, path)), /it holds the server's own data/, path)
      }
      await rename(data, join(dir, 'renamed'))
      const renamed = createWorkspace({ workingDir: dir, privateDirs: [join(dir, 'renamed')], byDescriptor })
      assert.match(await refusal(kindAt(renamed, 'renamed/keys')), /own data/)
      const inside = createWorkspace({
        workingDir: join(dir, 'renamed', 'keys'), privateDirs: [join(dir, 'renamed')], byDescriptor,
      })
      assert.match(await refusal(kindAt(inside, 'x')), /own data/)
    })
  }
})

test('a workspace whose folder was exchanged for a link is refused, one that was made anew is used', async () => {
  await inBothWays(async (workspace, { root, workspace: dir, outside }) => {
    await kindAt(workspace, '.')
    await rename(dir, join(root, 'moved'))
    assert.match(await refusal(kindAt(workspace, 'secret.txt')), /not_found/)
    await symlink(outside, dir)
    assert.match(await refusal(kindAt(workspace, 'secret.txt')), /invalid_input/)
    await rm(dir)
    await mkdir(dir)
    await writeFile(join(dir, 'file'), 'x')
    assert.equal(await kindAt(workspace, 'file'), [join(dir, 'file'), 'file'])
  })
})

test('a workspace that is not there is looked for again', async () => {
  await withFolders(async ({ root }) => {
    const workspace = createWorkspace({ workingDir: join(root, 'later'), privateDirs: [] })
    assert.match(await refusal(kindAt(workspace, '.')), /not_found: Cannot find the workspace/)
    await mkdir(join(root, 'later'))
    assert.is((await kindAt(workspace, '.'))[1], 'directory')
  })
})

test('a directory that is exchanged while it is used leads nowhere else', async () => {
  await inBothWays(async (workspace, { workspace: dir, outside }) => {
    await mkdir(join(dir, 'a'))
    await writeFile(join(dir, 'a', 'secret.txt'), 'inside')
    const text = await workspace.at('a/secret.txt', async (place) => {
      await rename(join(dir, 'a'), join(dir, 'b'))
      await symlink(outside, join(dir, 'a'))
      const content = await readFile(place, 100).catch((thrown: unknown) => thrown)
      const written = await writeContained(place, Buffer.from('new')).catch((thrown: unknown) => thrown)
      return content instanceof AppError && written instanceof AppError ? 'refused' : 'used'
    })
    assert.is(await readRaw(join(outside, 'secret.txt'), 'utf8'), 'what nobody may see')
    assert.is(await readRaw(join(dir, 'b', 'secret.txt'), 'utf8'), text === 'used' ? 'new' : 'inside')
  })
})

test('a name that is exchanged for a link while it is used is not followed', async () => {
  await inBothWays(async (workspace, { workspace: dir, outside }) => {
    await writeFile(join(dir, 'file'), 'inside')
    await workspace.at('file', async (place) => {
      await rm(join(dir, 'file'))
      await symlink(join(outside, 'secret.txt'), join(dir, 'file'))
      assert.match(await refusal(readFile(place, 100)), /exchanged for a link/)
      assert.match(await refusal(writeContained(place, Buffer.from('new'))), /exchanged for a link/)
    })
    assert.is(await readRaw(join(outside, 'secret.txt'), 'utf8'), 'what nobody may see')
  })
})

test('an error of the system is told in words, without the descriptor that it was met at', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['ENOENT', /^AppError: Cannot find "a"$/],
    ['ENOSPC', /^AppError: Cannot write "a": the disk is full$/],
    ['EACCES', /^AppError: Cannot use the path "a": permission denied$/],
    ['EIO', /^AppError: Cannot use the path "a": EIO$/],
  ]
  for (const [code, message] of table) {
    assert.match(String(pathError('a', Object.assign(new Error('at /proc/self/fd/7/a'), { code }))), message)
  }
  const other = new Error('other')
  assert.is(pathError('a', other), other)
})

test.run()
