import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { openBelow, withFolders } from '../../../support/workspace.ts'
import { suite } from '../../../support/suite.ts'
import { messageOf } from '../../../../src/base/errors.ts'
import { walkTree, type Entry } from '../../../../src/parts/workspace-files/directory.ts'
import { createWorkspace, type ContainedPath } from '../../../../src/parts/workspace-files/paths.ts'
import {
  findByContent, findByName, type ContentQuery, type Found, type SearchLimits,
} from '../../../../src/parts/builtin/workspace/search.ts'

const test = suite('workspace/search')

interface Search {
  readonly dir: string
  put(path: string, content?: string | Buffer): Promise<void>
  /** Paths below the workspace. */
  names(pattern: string, limits?: Partial<SearchLimits>, path?: string): Promise<Found>
  contents(query: Partial<ContentQuery>, limits?: Partial<SearchLimits>): Promise<Found>
  at<T>(path: string, use: (place: ContainedPath) => Promise<T>): Promise<T>
}

async function withSearch(body: (search: Search) => Promise<void>): Promise<void> {
  await withFolders(async ({ workspace: dir, root }) => {
    const { at } = createWorkspace({ workingDir: dir, privateDirs: [] })
    const usual = { limitResults: 100, limitEntries: 10_000, signal: new AbortController().signal }
    const shorten = (found: Found): Found => ({ ...found, files: found.files.map((path) => relative(dir, path)) })
    let time = 1_000_000
    await body({
      dir,
      at,
      put: async (path, content = '') => {
        await mkdir(dirname(join(dir, path)), { recursive: true })
        await writeFile(join(dir, path), content)
        // Every file is newer than the previous file.
        await utimes(join(dir, path), time, time++)
      },
      names: (pattern, limits = {}, path = '.') =>
        at(path, async (place) => shorten(await findByName(place, pattern, { ...usual, ...limits }))),
      contents: (query, limits = {}) => at('.', async (place) => {
        const whole = { pattern: 'x', include: undefined, limitBytes: 1000, timeoutMs: 10_000, ...query }
        return shorten(await findByContent(place, whole, { ...usual, ...limits }))
      }),
    })
    assert.equal(await openBelow(root), [], 'a descriptor was left open')
  })
}

test('files are found by name, newest first', async () => {
  await withSearch(async ({ put, names }) => {
    for (const path of ['a.ts', 'src/b.ts', 'src/deep/c.ts', 'd.js']) await put(path)
    assert.equal(await names('**/*.ts'), { files: ['src/deep/c.ts', 'src/b.ts', 'a.ts'], count: 3, isComplete: true })
    assert.equal((await names('*.ts', {}, 'src')).files, ['src/b.ts'])
    assert.equal((await names('src/*')).files, ['src/b.ts'])
    assert.equal((await names('nothing*')).files, [])
  })
})

test('a directory that cannot be opened leaves the walk incomplete, a private one does not', async () => {
  await withFolders(async ({ workspace: dir, root }) => {
    for (const name of ['a', 'b', 'c']) await mkdir(join(dir, name))
    await writeFile(join(dir, 'c', 'file'), '')
    const { at } = createWorkspace({ workingDir: dir, privateDirs: [join(dir, 'b')] })
    const seen: string[] = []
    const walk = (gone: string): Promise<{ isComplete: boolean }> => at('.', (place) => walkTree(place, {
      signal: new AbortController().signal, limitEntries: 100,
      async visit({ relativePath }) {
        seen.push(relativePath)
        if (relativePath === gone) await rm(join(dir, gone), { recursive: true })
        return true
      },
    }))
    assert.equal(await walk('none'), { isComplete: true })
    assert.equal(await walk('a'), { isComplete: false })
    assert.equal(seen, ['a', 'b', 'c', 'c/file', 'a', 'b', 'c', 'c/file'])
    assert.equal(await openBelow(root), [], 'a descriptor was left open')
  })
})

test('of two files of the same time the first by name is first', async () => {
  await withSearch(async ({ dir, put, names }) => {
    for (const name of ['b', 'c', 'a']) {
      await put(name)
      await utimes(join(dir, name), 5, 5)
    }
    assert.equal((await names('*')).files, ['a', 'b', 'c'])
  })
})

test('hidden files, links and what others have installed are left out', async () => {
  await withSearch(async ({ dir, put, names, contents }) => {
    for (const path of [
      '.env', '.github/a.yml', '.git/config', 'node_modules/p/index.js', 'src/a.js', '.x/node_modules/b',
    ]) {
      await put(path, 'x')
    }
    await symlink('src', join(dir, 'link'))
    await symlink('src/a.js', join(dir, 'link.js'))
    assert.equal((await names('**/*')).files, ['src/a.js'])
    assert.equal((await names('.*')).files, ['.env'])
    assert.equal((await names('.git*/*')).files, ['.github/a.yml'])
    assert.equal((await names('**', {}, 'node_modules')).files, ['node_modules/p/index.js'])
    assert.equal((await contents({})).files, ['src/a.js'])
    assert.equal((await contents({ include: '.env' })).files, ['.env'])
    assert.equal((await contents({ include: '.github/*.yml' })).files, ['.github/a.yml'])
  })
})

test('files are found by content', async () => {
  await withSearch(async ({ put, contents }) => {
    await put('a.ts', 'one\nTWO\nthree')
    await put('b.js', 'zero\none')
    await put('src/c.ts', 'grüße\r\nend')
    const table: readonly (readonly [string, string | undefined, readonly string[]])[] = [
      ['one', undefined, ['b.js', 'a.ts']],
      ['^one$', undefined, ['b.js', 'a.ts']],
      ['two', undefined, []],
      ['(?i)two', undefined, ['a.ts']],
      ['one', '*.ts', ['a.ts']],
      ['gr.+e', '*.{ts,js}', ['src/c.ts']],
      ['.', 'src/*', ['src/c.ts']],
      ['.', '**/*.ts', ['src/c.ts', 'a.ts']],
    ]
    for (const [pattern, include, files] of table) {
      assert.equal((await contents({ pattern, include })).files, files, `${pattern} ${include}`)
    }
  })
})

test('binary files do not match, and large ones are left out with a word', async () => {
  await withSearch(async ({ put, contents }) => {
    await put('binary', Buffer.from('x\0x'))
    await put('latin', Buffer.from('x\xff', 'latin1'))
    assert.equal(await contents({}), { files: ['latin'], count: 1, isComplete: true })
    await put('large', 'x'.repeat(1001))
    assert.equal(await contents({}), { files: ['latin'], count: 1, isComplete: false })
  })
})

test('what is found is bounded and counted', async () => {
  await withSearch(async ({ put, names, contents }) => {
    for (let index = 0; index < 12; index++) await put(`file-${index}`, 'x')
    const newest = ['file-11', 'file-10']
    assert.equal(await names('*', { limitResults: 2 }), { files: newest, count: 12, isComplete: true })
    assert.equal(await contents({}, { limitResults: 2 }), { files: newest, count: 12, isComplete: true })
    const few = await names('*', { limitEntries: 5 })
    assert.equal([few.count, few.isComplete], [5, false])
  })
})

test('a hostile expression ends the search and nothing else', async () => {
  await withSearch(async ({ put, contents }) => {
    await put('a', `${'a'.repeat(60)}b`)
    assert.match(await contents({ pattern: '(a+)+$', timeoutMs: 200 }).then(String, messageOf), /takes too long/)
    assert.equal((await contents({ pattern: 'a' })).count, 1)
  })
})

test('a search ends when it is stopped', async () => {
  await withSearch(async ({ put, names, contents }) => {
    await put('a', 'x')
    const signal = AbortSignal.abort(new Error('stopped'))
    assert.is(await names('*', { signal }).then(String, messageOf), 'stopped')
    assert.is(await contents({}, { signal }).then(String, messageOf), 'stopped')
  })
})

test('a file or nothing is not searched', async () => {
  await withSearch(async ({ put, names }) => {
    await put('file')
    assert.match(await names('*', {}, 'file').then(String, messageOf), /as a directory: it is not a directory/)
    assert.match(await names('*', {}, 'missing').then(String, messageOf), /Cannot find the directory/)
  })
})

test('a tree is walked in order of names, and what is too deep or gone is left out', async () => {
  await withSearch(async ({ dir, put, at }) => {
    for (const path of ['b', 'a/x', 'a/y/z', `${'d/'.repeat(120)}end`]) await put(path)
    const seen: string[] = []
    const visit = async (entry: Entry): Promise<boolean> => {
      seen.push(entry.relativePath)
      if (entry.name === 'y') await rm(join(dir, 'a', 'y'), { recursive: true })
      return true
    }
    const signal = new AbortController().signal
    const { isComplete } = await at('.', (place) => walkTree(place, { signal, limitEntries: 10_000, visit }))
    assert.is(isComplete, false)
    assert.equal(seen.slice(0, 5), ['a', 'a/x', 'a/y', 'b', 'd'])
    assert.is(seen.at(-1)?.split('/').length, 101)
  })
})

test('a directory that may not be read does not hide the others', async () => {
  if (process.getuid?.() === 0) return
  await withSearch(async ({ dir, put, names }) => {
    await put('closed/a')
    await put('open/a')
    await chmod(join(dir, 'closed'), 0o300)
    assert.equal(await names('**/*'), { files: ['open/a'], count: 1, isComplete: false })
    await chmod(join(dir, 'closed'), 0o700)
  })
})

test.run()
