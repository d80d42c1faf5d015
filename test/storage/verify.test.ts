import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { formatLine, genesis } from '../../src/storage/chain.ts'
import { writeState } from '../../src/storage/state-file.ts'
import { verifyConversation, type VerifyResult } from '../../src/storage/verify.ts'
import { suite } from '../support/suite.ts'
import { below, codeOfFailure, eventMaker, kinds, openTestLog, privateRecord, seeded, withFolder } from './samples.ts'

const test = suite('storage/verify')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

/** Events 0 to 9 with a private record after every third, in lines 1 to 13, and a cached state in the middle. */
async function fill(directory: string): Promise<string> {
  const { log } = await openTestLog(directory)
  const make = eventMaker()
  for (let number = 0; number < 10; number++) {
    log.append(make(50))
    if (number % 3 === 2) log.append(privateRecord(number))
    if (number === 5) {
      await log.durable()
      await writeState(directory, { line: log.head, state: { number } })
    }
  }
  await log.close()
  return log.head.hash
}

const verify = (directory: string, expect?: string): Promise<VerifyResult> =>
  verifyConversation({ directory, kinds, ...(expect === undefined ? {} : { expect }) })

/** The log with these lines, chained. */
function logOf(lines: readonly (string | Buffer)[]): Buffer {
  let hash = genesis
  return Buffer.concat(lines.map((json) => {
    const line = formatLine(hash, Buffer.from(json))
    hash = line.hash
    return line.bytes
  }))
}

test('finds nothing in a sound conversation, and counts it', () =>
  withFolder(async (directory) => {
    const hash = await fill(directory)
    const { size } = { size: (await readFile(join(directory, 'events.jsonl'))).length }
    const expected = {
      sound: true, lines: 13, events: 10, head: { offset: size, hash }, expected: undefined, issues: [],
    }
    assert.equal(await verify(directory), expected)
    for (const cache of ['events.index', 'state.json']) {
      await rm(join(directory, cache))
      assert.equal(await verify(directory), expected)
    }
  }))

test('names the line of a flipped bit anywhere in the log', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'events.jsonl')
    const good = await readFile(path)
    const random = seeded(seed)
    for (let byte = 0; byte < good.length; byte += 1 + below(random, 5)) {
      const bad = Buffer.from(good)
      bad[byte] = (bad[byte] ?? 0) ^ (1 << below(random, 8))
      await writeFile(path, bad)
      const { sound, issues } = await verify(directory)
      const line = good.subarray(0, byte).toString('latin1').split('\n').length
      assert.not(sound, `seed ${seed} byte ${byte}`)
      assert.ok(
        issues.some((issue) => issue.line === line),
        `seed ${seed} byte ${byte}: ${JSON.stringify(issues)}, expected line ${line}`,
      )
    }
  }))

test('names the event of a flipped bit anywhere in the index', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'events.index')
    const good = await readFile(path)
    for (let byte = 0; byte < good.length; byte++) {
      const bad = Buffer.from(good)
      bad[byte] = (bad[byte] ?? 0) ^ 0x10
      await writeFile(path, bad)
      const { sound, issues } = await verify(directory)
      assert.not(sound)
      assert.equal(issues, [{ file: 'events.index', offset: byte - (byte % 16), problem: 'the record is not sound' }])
    }
  }))

test('finds an index that lacks a record, has one too many or is of another log', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'events.index')
    const good = await readFile(path)
    const other = join(directory, 'other')
    await mkdir(other)
    const { log } = await openTestLog(other)
    const make = eventMaker(9)
    for (let number = 0; number < 12; number++) log.append(make(50))
    await log.close()
    const otherIndex = await readFile(join(other, 'events.index'))
    for (const bad of [
      Buffer.concat([good.subarray(0, 48), good.subarray(64)]),
      Buffer.concat([good, otherIndex.subarray(-16)]),
      otherIndex,
    ]) {
      await writeFile(path, bad)
      const { sound, issues } = await verify(directory)
      assert.not(sound)
      assert.ok(issues.every(({ file }) => file === 'events.index'))
    }
    await writeFile(path, good.subarray(0, 64))
    assert.ok((await verify(directory)).sound)
  }))

test('names an event that the index does not have, and finds the others right', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'events.index')
    const good = await readFile(path)
    await writeFile(path, Buffer.concat([good.subarray(0, 48), good.subarray(64)]))
    const { sound, events, issues } = await verify(directory)
    assert.not(sound)
    assert.is(events, 9)
    assert.equal(issues, [{ file: 'events.index', offset: 48, problem: 'an event of the log is missing' }])
  }))

test('finds a cached state that was changed or is of another log', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'state.json')
    await writeFile(path, (await readFile(path, 'utf8')).replace('"number":5', '"number":6'))
    const { sound, issues } = await verify(directory)
    assert.not(sound)
    assert.equal(issues.map(({ file }) => file), ['state.json'])
    await writeState(directory, { line: { offset: 10, hash: genesis }, state: 1 })
    assert.not((await verify(directory)).sound)
    await writeState(directory, { line: { offset: 0, hash: genesis }, state: 1 })
    assert.ok((await verify(directory)).sound)
  }))

test('proves that a log still goes through a head that was noted', () =>
  withFolder(async (directory) => {
    const noted = await fill(directory)
    const { log } = await openTestLog(directory)
    log.append(privateRecord('later'))
    await log.close()
    assert.is((await verify(directory, noted)).expected, true)
    assert.is((await verify(directory, log.head.hash)).expected, true)
    assert.is((await verify(directory, genesis)).expected, true)
    const without = await verify(directory, 'f'.repeat(32))
    assert.is(without.expected, false)
    assert.not(without.sound)
    assert.equal(without.issues, [])
    const path = join(directory, 'events.jsonl')
    const content = await readFile(path)
    content[50] = (content[50] ?? 0) ^ 1
    await writeFile(path, content)
    assert.is((await verify(directory, noted)).expected, false)
  }))

test('finds whole lines that were taken out, doubled or exchanged', () =>
  withFolder(async (directory) => {
    await fill(directory)
    const path = join(directory, 'events.jsonl')
    const lines = (await readFile(path, 'utf8')).split(/(?<=\n)/)
    const [first = '', second = '', third = ''] = lines
    for (const changed of [[first, third], [first, first, second], [second, first]]) {
      await writeFile(path, [...changed, ...lines.slice(3)].join(''))
      assert.not((await verify(directory)).sound)
    }
  }))

test('names lines that fit the chain and are not what they should be', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const [first, second] = [make(), make()]
    const cases: readonly (readonly [readonly (string | Buffer)[], string])[] = [
      [['{"kind":'], 'the JSON cannot be parsed'],
      [['{"x":1}'], 'neither an event nor a private record'],
      [['{"kind":"Other"}'], 'no kind and id that are known'],
      [[Buffer.from('["\xff"]', 'latin1')], 'not UTF-8'],
      [[second, first], 'not after the id before it'],
    ]
    for (const [lines, problem] of cases) {
      await writeFile(join(directory, 'events.jsonl'), logOf(lines))
      const { sound, issues } = await verify(directory)
      assert.not(sound)
      assert.ok(issues.some((issue) => issue.problem.includes(problem) && issue.line === lines.length), problem)
    }
  }))

test('names an unfinished last line, and lists a thousand issues at most', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'events.jsonl')
    await writeFile(path, logOf([privateRecord(1), privateRecord(2)]).subarray(0, -5))
    const { issues } = await verify(directory)
    assert.equal(issues.map(({ line, problem }) => [line, problem]), [[2, 'the line has no end']])
    await writeFile(path, logOf(Array.from({ length: 1500 }, () => '{"x":1}')))
    const many = await verify(directory)
    assert.is(many.issues.length, 1000)
    assert.is(many.lines, 1500)
  }))

test('says not_found without a log, and storage_failed when it cannot be read', () =>
  withFolder(async (directory) => {
    assert.is(await codeOfFailure(verify(directory)), 'not_found')
    await mkdir(join(directory, 'events.jsonl'))
    assert.is(await codeOfFailure(verify(directory)), 'storage_failed')
  }))

test.run()
