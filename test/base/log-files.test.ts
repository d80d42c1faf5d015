/**
 * Files of logs on a real disk: the refused paths, the files after a rotation, and the lines that a full disk costs.
 */
import * as assert from 'uvu/assert'
import { execFileSync } from 'node:child_process'
import {
  chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { LogFiles } from '../../src/base/log-files.ts'
import { messageOf } from '../../src/base/errors.ts'
import { makeFolder, until } from '../support/processes.ts'
import { mountRefusal } from '../support/small-disk.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/log-files')

function inFolder(body: (folder: string, told: string[], files: LogFiles) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const told: string[] = []
    try {
      await body(folder, told, new LogFiles({ tell: (words) => void told.push(words) }))
    } finally {
      remove()
    }
  }
}

function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

function wholeLinesOf(path: string): string[] {
  return linesOf(path).filter((line) => {
    try {
      return JSON.parse(line) !== undefined
    } catch {
      return false
    }
  })
}

test('a new file may be read by its group, whatever the umask; an existing one is continued with its mode',
  inFolder(async (folder, told, files) => {
    const umask = process.umask(0o077)
    try {
      const path = join(folder, 'a.log')
      const first = await files.open('server', path)
      first.write('one\n')
      await first.close()
      assert.is(statSync(path).mode & 0o777, 0o640)
      chmodSync(path, 0o600)
      const second = await files.open('server', path)
      second.write('two\n')
      await second.close()
      assert.equal([linesOf(path), statSync(path).mode & 0o777], [['one', 'two'], 0o600])
      assert.equal([told, files.isUsed], [[], false])
    } finally {
      process.umask(umask)
    }
  }))

test('links, pipes, devices, folders and missing folders are refused, and nothing of them is touched',
  inFolder(async (folder, _, files) => {
    const target = join(folder, 'target')
    writeFileSync(target, 'kept')
    symlinkSync(target, join(folder, 'link'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    mkdirSync(join(folder, 'folder'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    for (const [name, reason] of [
      ['link', 'it is a link'], ['dangling', 'it is a link'], ['folder', 'EISDIR'], ['pipe', 'ENXIO'],
      ['missing/a.log', 'ENOENT'],
    ] as const) {
      const path = join(folder, name)
      const thrown = await files.open('access', path).then(() => undefined, (error: unknown) => error)
      assert.is(messageOf(thrown), `Could not use the log file "${path}": ${reason}`)
    }
    const device = await files.open('access', '/dev/null').then(() => undefined, (error: unknown) => error)
    assert.is(messageOf(device), 'Could not use the log file "/dev/null": expected a regular file')
    const output = await files.open('access', '-').then(() => undefined, (error: unknown) => error)
    assert.match(messageOf(output), 'expected a file')
    assert.is(readFileSync(target, 'utf8'), 'kept')
    assert.not(files.isUsed)
  }))

test('across many rotations no line is lost, doubled or cut', inFolder(async (folder, told, files) => {
  const path = join(folder, 'a.log')
  const log = await files.open('server', path)
  const all: string[] = []
  for (let rotation = 0; rotation < 20; rotation++) {
    for (let count = 0; count < 50; count++) {
      all.push(`${rotation} ${count} ${'x'.repeat(count * 20)}`)
      log.write(`${all.at(-1)}\n`)
      if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    renameSync(path, `${path}.${rotation}`)
    const reopened = files.reopen()
    log.write(`during ${rotation}\n`)
    all.push(`during ${rotation}`)
    await reopened
  }
  await log.close()
  const read = [...Array(20).keys()].flatMap((rotation) => linesOf(`${path}.${rotation}`)).concat(linesOf(path))
  assert.equal(read, all)
  assert.equal([told, files.dropped('server')], [[], 0])
}))

test('a file that cannot be opened again stays in use, and that is told', inFolder(async (folder, told, files) => {
  const path = join(folder, 'a.log')
  const log = await files.open('server', path)
  renameSync(path, `${path}.1`)
  symlinkSync('/etc/passwd', path)
  await files.reopen()
  assert.equal(told, [`Could not use the log file "${path}": it is a link`])
  log.write('one\n')
  await log.close()
  assert.equal(linesOf(`${path}.1`), ['one'])
}))

test('lines that come faster than the disk takes them are dropped and counted; the rest is whole',
  inFolder(async (folder, told, files) => {
    const path = join(folder, 'a.log')
    const log = await files.open('access', path)
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
    for (let count = 0; count < 8; count++) log.write(line)
    // 4 MiB wait.
    assert.is(files.dropped('access'), 4)
    await log.close()
    assert.equal(linesOf(path).map(({ length }) => length), Array(4).fill(line.length - 1))
    assert.equal(told, [
      `Cannot write the access log "${path}" (too slow): lines are dropped until it works`,
      `The access log "${path}" is written again: 4 lines were dropped`,
    ])
    log.write('after the close\n')
    assert.is(files.dropped('access'), 5)
  }))

test('a line that is written at once comes after those that wait', inFolder(async (folder, _, files) => {
  const path = join(folder, 'a.log')
  const log = await files.open('server', path)
  await new Promise((resolve) => setImmediate(resolve))
  log.write('one\n')
  log.write('two\n')
  log.writeNow('last\n')
  await log.close()
  assert.equal(linesOf(path).sort(), ['last', 'one', 'two'])
  assert.ok(linesOf(path).indexOf('two') < linesOf(path).indexOf('last'))
}))

const refusal = mountRefusal()
if (refusal !== undefined) test.skip('a full disk', refusal)
else {
  test('a full disk costs the lines that it does not take, and never half a line of those that follow',
    inFolder(async (folder, told, files) => {
      const disk = join(folder, 'disk')
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk])
      try {
        const path = join(disk, 'a.log')
        const ballast = join(disk, 'ballast')
        writeFileSync(ballast, Buffer.alloc(8192))
        const log = await files.open('server', path)
        for (let count = 0; count < 20; count++) {
          log.write(`${JSON.stringify({ count, text: 'x'.repeat(1000) })}\n`)
          await until(async () => files.dropped('server') + wholeLinesOf(path).length === count + 1)
        }
        assert.ok(files.dropped('server') >= 10)
        assert.is(told.length, 1)
        assert.match(told[0] ?? '', '(ENOSPC): lines are dropped')
        rmSync(ballast)
        log.write(`${JSON.stringify({ count: 'after' })}\n`)
        await log.close()
        const whole = wholeLinesOf(path)
        assert.is(whole.length, 21 - files.dropped('server'))
        assert.ok(linesOf(path).length <= whole.length + 1, 'one line was cut by the full disk')
        assert.equal(JSON.parse(whole.at(-1) ?? ''), { count: 'after' })
        assert.match(told[1] ?? '', `${files.dropped('server')} lines were dropped`)
      } finally {
        execFileSync('umount', ['-l', disk])
      }
    }))

  test('a last line on a full disk is counted as dropped, and the next one begins after the cut line',
    inFolder(async (folder, told, files) => {
      const disk = join(folder, 'disk')
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk])
      try {
        const path = join(disk, 'a.log')
        const ballast = join(disk, 'ballast')
        writeFileSync(ballast, Buffer.alloc(8192))
        const log = await files.open('server', path)
        log.writeNow(`${JSON.stringify({ text: 'x'.repeat(10_000) })}\n`)
        assert.equal([files.dropped('server'), told.length, statSync(path).size], [1, 1, 8192])
        log.write(`${JSON.stringify({ text: 'x'.repeat(10_000) })}\n`)
        await until(async () => files.dropped('server') === 2)
        rmSync(ballast)
        log.writeNow(`${JSON.stringify({ text: 'last' })}\n`)
        await log.close()
        assert.equal(wholeLinesOf(path), [JSON.stringify({ text: 'last' })])
        assert.match(told[1] ?? '', '2 lines were dropped')
      } finally {
        execFileSync('umount', ['-l', disk])
      }
    }))
}

test('a file with two names is continued under both', inFolder(async (folder, _, files) => {
  const path = join(folder, 'a.log')
  writeFileSync(path, 'one\n')
  linkSync(path, join(folder, 'b.log'))
  const log = await files.open('server', path)
  log.write('two\n')
  await log.close()
  assert.equal(linesOf(join(folder, 'b.log')), ['one', 'two'])
}))

test.run()
