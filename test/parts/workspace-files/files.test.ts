import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import {
  chmod, link, lstat, mkdir, readdir, readFile as readRaw, stat, symlink, utimes, writeFile as writeRaw,
} from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openBelow, withFolders } from '../../support/workspace.ts'
import { suite } from '../../support/suite.ts'
import { AppError, messageOf } from '../../../src/base/errors.ts'
import { readFile, removeFile, writeFile } from '../../../src/parts/workspace-files/files.ts'
import { createWorkspace, type ContainedPath } from '../../../src/parts/workspace-files/paths.ts'

const test = suite('parts/workspace-files/files')

type At = <T>(path: string, use: (place: ContainedPath) => Promise<T>) => Promise<T>

async function withFiles(body: (at: At, dir: string) => Promise<void>): Promise<void> {
  await withFolders(async ({ workspace: dir, root }) => {
    await body(createWorkspace({ workingDir: dir, privateDirs: [] }).at, dir)
    assert.equal(await openBelow(root), [], 'a descriptor was left open')
  })
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'it did not fail', (thrown: unknown) => {
    return (thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : messageOf(thrown))
  })
}

const read = (limitBytes: number) => (place: ContainedPath): Promise<string> =>
  readFile(place, limitBytes).then(({ bytes }) => bytes.toString())

test('a file is read up to a limit', async () => {
  await withFiles(async (at, dir) => {
    await writeRaw(join(dir, 'file'), 'x'.repeat(100_000))
    assert.is((await at('file', read(100_000))).length, 100_000)
    assert.match(
      await failure(at('file', read(99_999))), /^invalid_input: .* it has 100000 bytes, expected at most 99999$/,
    )
    assert.match(await failure(at('missing', read(1))), /^not_found: /)
    await mkdir(join(dir, 'directory'))
    assert.match(await failure(at('directory', read(1))), /it is a directory$/)
  })
})

test('a file that says it is empty is read up to the limit all the same', async () => {
  await withFolders(async () => {
    if (process.platform !== 'linux') return
    const workspace = createWorkspace({ workingDir: '/proc/self', privateDirs: [] })
    assert.match(await failure(workspace.at('maps', read(100))), /expected at most 100$/)
  })
})

test('a new file has the mode that the umask leaves, a replaced one keeps its own without set-uid', async () => {
  await withFiles(async (at, dir) => {
    await at('new', (place) => writeFile(place, Buffer.from('a')))
    await writeRaw(join(dir, 'usual'), '')
    assert.is((await stat(join(dir, 'new'))).mode, (await stat(join(dir, 'usual'))).mode)
    await chmod(join(dir, 'new'), 0o4751)
    await at('new', (place) => writeFile(place, Buffer.from('b')))
    assert.is((await stat(join(dir, 'new'))).mode & 0o7777, 0o751)
    assert.equal((await readdir(dir)).sort(), ['new', 'usual'])
  })
})

test('a replaced file keeps its owner where that is possible', async () => {
  await withFiles(async (at, dir) => {
    if (process.getuid?.() !== 0) return
    execFileSync('chown', ['1234:2345', await writeRaw(join(dir, 'file'), 'a').then(() => join(dir, 'file'))])
    await at('file', (place) => writeFile(place, Buffer.from('b')))
    const { uid, gid } = await stat(join(dir, 'file'))
    assert.equal([uid, gid], [1234, 2345])
  })
})

test('a version that is not the one that was read is not overwritten or removed', async () => {
  await withFiles(async (at, dir) => {
    const path = join(dir, 'file')
    await writeRaw(path, 'one')
    const { version } = await at('file', (place) => readFile(place, 10))
    await writeRaw(path, 'two')
    await utimes(path, 1, 1)
    assert.match(
      await failure(at('file', (place) => writeFile(place, Buffer.from('x'), { expected: version }))),
      /^conflict: .*changed/,
    )
    assert.match(
      await failure(at('file', (place) => writeFile(place, Buffer.from('x'), { expected: 'none' }))), /^conflict: /,
    )
    assert.match(await failure(at('file', (place) => removeFile(place, version))), /^conflict: /)
    assert.is(await readRaw(path, 'utf8'), 'two')
    const written = await at('file', (place) => writeFile(place, Buffer.from('three')))
    await at('file', (place) => removeFile(place, written))
    assert.equal(await readdir(dir), [])
  })
})

test('a file that was made between the look and the write is not overwritten', async () => {
  await withFiles(async (at, dir) => {
    const made = (name: string, make: (path: string) => Promise<unknown>): Promise<string> => {
      return failure(at(name, async (place) => {
        await make(join(dir, name))
        await writeFile(place, Buffer.from('ours'), { expected: 'none' })
      }))
    }
    assert.match(await made('file', (path) => writeRaw(path, 'theirs')), /^conflict: .*changed by something else/)
    assert.is(await readRaw(join(dir, 'file'), 'utf8'), 'theirs')
    assert.match(await made('link', (path) => symlink('nowhere', path)), /^conflict: /)
    assert.equal((await readdir(dir)).sort(), ['file', 'link'])
    const version = await at('new', (place) => writeFile(place, Buffer.from('ours'), { expected: 'none' }))
    assert.is((await at('new', (place) => readFile(place, 10))).version, version)
    await at('new', (place) => writeFile(place, Buffer.from('again'), { expected: version }))
    assert.equal((await readdir(dir)).sort(), ['file', 'link', 'new'])
  })
})

test('the version that a write gives is the one that a read finds', async () => {
  await withFiles(async (at) => {
    const written = await at('file', (place) => writeFile(place, Buffer.from('x')))
    assert.is((await at('file', (place) => readFile(place, 10))).version, written)
  })
})

test('a file with a second name is not written, and may be read', async () => {
  await withFolders(async ({ workspace: dir, outside }) => {
    const { at } = createWorkspace({ workingDir: dir, privateDirs: [] })
    await link(join(outside, 'secret.txt'), join(dir, 'linked'))
    assert.match(await failure(at('linked', (place) => writeFile(place, Buffer.from('x')))), /hard link/)
    assert.is(await at('linked', read(100)), 'what nobody may see')
    assert.is(await readRaw(join(outside, 'secret.txt'), 'utf8'), 'what nobody may see')
  })
})

test('pipes, sockets and devices are refused at once', async () => {
  await withFiles(async (at, dir) => {
    execFileSync('mkfifo', [join(dir, 'pipe')])
    const server = createServer().listen(join(dir, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    for (const name of ['pipe', 'socket']) {
      assert.match(await failure(at(name, read(10))), /it is a link, a device, a socket or a pipe$/)
      assert.match(
        await failure(at(name, (place) => writeFile(place, Buffer.from('x')))),
        /it is a link, a device, a socket or a pipe$/,
      )
      assert.not((await lstat(join(dir, name))).isFile())
    }
    await new Promise((resolve) => server.close(resolve))
    const devices = createWorkspace({ workingDir: '/dev', privateDirs: [] })
    assert.match(await failure(devices.at('zero', read(10))), /a device/)
  })
})

test('a pipe that takes the place of a file while it is used is refused at once', async () => {
  await withFiles(async (at, dir) => {
    await writeRaw(join(dir, 'file'), 'x')
    await at('file', async (place) => {
      execFileSync('sh', ['-c', 'rm file && mkfifo file'], { cwd: dir })
      assert.match(await failure(readFile(place, 10)), /not a regular one$/)
      assert.match(await failure(writeFile(place, Buffer.from('y'))), /not a regular file$/)
    })
  })
})

test('what fails leaves the file as it was and nothing beside it', async () => {
  await withFiles(async (at, dir) => {
    await mkdir(join(dir, 'in-the-way'))
    assert.match(await failure(at('in-the-way', (place) => writeFile(place, Buffer.from('x')))), /it is a directory$/)
    await at('target', async (place) => {
      await mkdir(join(dir, 'target'))
      assert.match(await failure(writeFile(place, Buffer.from('x'))), /invalid_input: .*(a directory|EISDIR|not)/)
    })
    assert.equal((await readdir(dir)).sort(), ['in-the-way', 'target'])
  })
})

test.run()
