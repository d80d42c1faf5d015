import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Family, selectFamily, withoutOurs } from '../../src/process/family.ts'
import { parseStat, readProcess, readProcesses, signalProcess, type ProcessEntry } from '../../src/process/proc.ts'
import { fakeProc, statLine } from '../support/processes.ts'

const test = suite('process/family')

/** pid, ppid, session */
function entries(...rows: [number, number, number][]): ProcessEntry[] {
  return rows.map(([pid, ppid, session]) => ({ pid, ppid, session, group: session, start: pid }))
}

function pids(found: readonly ProcessEntry[]): number[] {
  return found.map(({ pid }) => pid)
}

test('a family is the seeds, their descendants and their sessions, in any order of the list', () => {
  const list = entries([9, 8, 9], [1, 0, 1], [8, 7, 5], [5, 1, 5], [7, 5, 7], [6, 1, 5], [11, 1, 9], [20, 1, 20])
  assert.equal(pids(selectFamily(list, new Set([5]))), [9, 8, 5, 7, 6, 11])
  assert.equal(pids(selectFamily([...list].reverse(), new Set([5]))).sort(), [11, 5, 6, 7, 8, 9])
})

test('without seeds there is no family', () => {
  assert.equal(selectFamily(entries([1, 0, 1], [2, 1, 1]), new Set()), [])
})

test('this process, its ancestors and its session are never candidates', () => {
  const list = entries([1, 0, 1], [3, 1, 3], [4, 3, 4], [5, 4, 4], [6, 5, 6], [7, 1, 7], [8, 1, 4])
  assert.equal(pids(withoutOurs(list, 5)), [6, 7])
  assert.equal(pids(withoutOurs(list, 99)), [1, 3, 4, 5, 6, 7, 8])
})

test('a list whose parents run in a circle ends', () => {
  assert.equal(pids(withoutOurs(entries([2, 3, 2], [3, 2, 3], [4, 2, 4]), 2)), [4])
})

test('reads a stat line whose name holds blanks and parentheses', () => {
  assert.equal(parseStat(statLine({ pid: 12, name: 'a) S 1 (b', ppid: 3, group: 4, session: 5, start: 678 })), {
    pid: 12, ppid: 3, group: 4, session: 5, start: 678,
  })
})

test('takes zombies, the dead and broken lines for no process', () => {
  for (const line of [statLine({ state: 'Z' }), statLine({ state: 'X' }), '', '1 (x) S 1 1', 'nonsense']) {
    assert.is(parseStat(line), undefined, line)
  }
})

test('there is no list of processes without /proc, nor in a folder that does not show this one', async () => {
  assert.is(await readProcesses('/no/proc/here'), undefined)
  const fake = fakeProc({ pid: 4_194_399, marker: 'i/1' })
  assert.is((await readProcesses(fake.folder))?.length, 2)
  fake.remove()
  assert.is(await new Family({ isMarked: () => true, proc: '/no/proc/here' }).find(), undefined)
  assert.equal(await new Family({ isMarked: () => true, proc: '/no/proc/here' }).kill({ limitMs: 0 }), [])
})

test('reads a list of hundreds of processes', async () => {
  const fake = fakeProc({ pid: 4_194_399, marker: 'i/1' })
  for (let pid = 4_194_400; pid < 4_194_650; pid++) {
    mkdirSync(join(fake.folder, String(pid)))
    writeFileSync(join(fake.folder, String(pid), 'stat'), statLine({ pid, ppid: pid - 1, session: pid }))
  }
  assert.is((await readProcesses(fake.folder))?.length, 252)
  assert.is((await new Family({ isMarked: (marker) => marker === 'i/1', proc: fake.folder }).find())?.length, 251)
  fake.remove()
})

test('finds a marked process by its marker alone, and gives up on one that cannot be killed', async () => {
  const fake = fakeProc({ pid: 4_194_399, marker: 'i/1' })
  const proc = fake.folder
  assert.equal(pids(await new Family({ isMarked: (marker) => marker === 'i/1', proc }).find() ?? []), [4_194_399])
  assert.equal(await new Family({ isMarked: (marker) => marker === 'i/2', proc }).find(), [])
  assert.equal(pids(await new Family({ isMarked: () => true, proc }).kill({ limitMs: 20 })), [4_194_399])
  fake.remove()
})

test('looks twice before nobody is left: what one search missed, the next may find', async () => {
  const fake = fakeProc({ pid: 4_194_398, marker: 'i/1' })
  let searches = 0
  const isMarked = (): boolean => ++searches > 1
  assert.equal(pids(await new Family({ isMarked, proc: fake.folder }).kill({ limitMs: 20 })), [4_194_398])
  fake.remove()
})

test('the second look finds a process that was made during the first', async () => {
  const [first, second] = [fakeProc({ pid: 4_194_398, marker: 'i/1' }), 4_194_399]
  const isMarked = (marker: string): boolean => {
    mkdirSync(join(first.folder, String(second)), { recursive: true })
    writeFileSync(join(first.folder, String(second), 'stat'), statLine({ pid: second, session: second }))
    writeFileSync(join(first.folder, String(second), 'environ'), 'AGENT_SERVER_CHILD=i/2\0')
    return marker === 'i/2'
  }
  assert.equal(pids(await new Family({ isMarked, proc: first.folder }).kill({ limitMs: 20 })), [second])
  first.remove()
})

test('the second look reads no process again that the first has read', async () => {
  const fake = fakeProc({ pid: 4_194_398, marker: 'i/1' })
  let looks = 0
  const isMarked = (): boolean => {
    looks++
    writeFileSync(join(fake.folder, '4194398', 'stat'), '')
    return false
  }
  assert.equal(await new Family({ isMarked, proc: fake.folder }).kill({ limitMs: 20 }), [])
  assert.is(looks, 2)
  fake.remove()
})

if (existsSync('/proc/self/stat')) {
  test('a pid that was used again is not signalled', async () => {
    const child = spawn('sleep', ['100'], { detached: true })
    await once(child, 'spawn')
    const { pid = 0 } = child
    const entry = readProcess('/proc', pid)
    assert.ok(entry)
    if (entry === undefined) return
    signalProcess('/proc', { ...entry, start: entry.start + 1 }, 'SIGKILL')
    signalProcess('/proc', { ...entry, start: entry.start - 1 }, 'SIGKILL')
    // A SIGKILL that was sent above wins over this signal, whenever it arrives.
    signalProcess('/proc', entry, 'SIGTERM')
    const [, signal] = await once(child, 'exit')
    assert.is(signal, 'SIGTERM')
  })
}

test.run()
