import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readState, writeState } from '../../src/storage/state-file.ts'
import { failureOf } from '../support/conversation.ts'
import { suite } from '../support/suite.ts'
import { allLines, eventMaker, openTestLog, withFolder } from './samples.ts'

const test = suite('storage/state-file')

test('gives back the state and the line from which to fold on', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    assert.is(await readState(directory, log), undefined)
    log.append(make())
    await log.durable()
    const cached = { line: log.head, state: { title: 'é', 10: [null, 1.5], 2: {}, __proto__: null } }
    await writeState(directory, cached)
    assert.equal(await readState(directory, log), { line: log.head, state: { 2: {}, 10: [null, 1.5], title: 'é' } })
    const next = make()
    log.append(next)
    await log.durable()
    const again = await readState(directory, log)
    assert.equal(await allLines(log, again?.line), [next])
    await log.close()
  }))

test('takes a state that names no line of the log for none', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory)
    log.append(eventMaker()())
    await log.durable()
    const { offset, hash } = log.head
    for (const line of [
      { offset, hash: 'f'.repeat(32) }, { offset: offset + 1, hash }, { offset: offset - 1, hash }, { offset: 0, hash },
    ]) {
      await writeState(directory, { line, state: 1 })
      assert.is(await readState(directory, log), undefined)
    }
    await log.close()
  }))

test('takes a state that was changed or cannot be read for none', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory)
    log.append(eventMaker()())
    await log.durable()
    await writeState(directory, { line: log.head, state: { cost: 12, text: 'abc' } })
    const path = join(directory, 'state.json')
    const good = await readFile(path)
    for (let bit = 0; bit < (good.length - 1) * 8; bit++) {
      const bad = Buffer.from(good)
      bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await writeFile(path, bad)
      assert.is(await readState(directory, log), undefined, `bit ${bit}`)
    }
    for (const content of [
      '', '{', '[]', '{"line":1}', '{"line":{"offset":"0","hash":"0"}}', '{"line":{"offset":-1,"hash":""}}',
    ]) {
      await writeFile(path, content)
      assert.is(await readState(directory, log), undefined, content)
    }
    await log.close()
  }))

test('keeps what is there and leaves no temporary file when the state cannot be written', () =>
  withFolder(async (directory) => {
    await mkdir(join(directory, 'state.json'))
    assert.is(await failureOf(writeState(directory, { line: { offset: 0, hash: '' }, state: {} })), 'storage_failed')
    assert.equal(await readdir(directory), ['state.json'])
  }))

test.run()
