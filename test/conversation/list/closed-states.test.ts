/** States of closed conversations: read once, forgotten in time, and never more of them than the limit. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { ClosedStates } from '../../../src/conversation/list/closed-states.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { start } from '../../../src/storage/chain.ts'
import { writeState } from '../../../src/storage/state-file.ts'
import { created } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'
import { withFolder } from '../../storage/samples.ts'

const test = suite('conversation/list/closed-states')

/** The folder of a closed conversation with an empty log. */
async function conversation(parent: string, id: string, title: string): Promise<string> {
  const directory = join(parent, id)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'events.jsonl'), '')
  await writeState(directory, { line: start, state: { ...initialState(created({ id })), title } })
  return directory
}

test('reads a folder once, and again when it was told to forget', () =>
  withFolder(async (folder) => {
    const states = new ClosedStates()
    const directory = await conversation(folder, 'a', 'old')
    const first = await states.read('a', directory)
    assert.is(first?.title, 'old')
    await conversation(folder, 'a', 'new')
    assert.equal(await states.read('a', directory), first)
    states.forget('a')
    assert.is(states.characters, 0)
    assert.is((await states.read('a', directory))?.title, 'new')
  }))

test('does not keep what was being read when it was told to forget', () =>
  withFolder(async (folder) => {
    const states = new ClosedStates()
    const directory = await conversation(folder, 'a', 'old')
    const reading = states.read('a', directory)
    states.forget('a')
    assert.is((await reading)?.title, 'old')
    assert.is(states.characters, 0)
  }))

test('keeps nothing of a folder that holds no state', () =>
  withFolder(async (folder) => {
    const states = new ClosedStates()
    assert.is(await states.read('a', folder), undefined)
    assert.is(states.characters, 0)
  }))

test('lets go of what was not asked for the longest', () =>
  withFolder(async (folder) => {
    const size = JSON.stringify({ ...initialState(created({ id: 'a' })), title: 'x' }).length
    const states = new ClosedStates({ limitCharacters: 2 * size + 10 })
    const directories = await Promise.all(['a', 'b', 'c'].map((id) => conversation(folder, id, 'x')))
    const read = (place: number): Promise<unknown> => states.read('abc'[place] ?? '', directories[place] ?? '')
    for (const place of [0, 1, 0, 2]) await read(place)
    assert.is(states.characters, 2 * size)
    await rm(folder, { recursive: true })
    assert.ok((await read(0)) !== undefined)
    assert.ok((await read(2)) !== undefined)
    assert.is(await read(1), undefined)
  }))

test.run()
