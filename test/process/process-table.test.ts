import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProcessTable, processTable } from '../../src/process/process-table.ts'
import { fakeProc, statLine } from '../support/processes.ts'

const test = suite('process/process-table')
const pid = 4_194_399

test('looks that are asked for during one look share the next one, which shows what came meanwhile', async () => {
  const fake = fakeProc({ pid, marker: 'i/1' })
  const table = new ProcessTable(fake.folder)
  const first = table.read()
  mkdirSync(join(fake.folder, String(pid + 1)))
  writeFileSync(join(fake.folder, String(pid + 1), 'stat'), statLine({ pid: pid + 1 }))
  const others = await Promise.all([table.read(), table.read(), table.read()])
  await first
  assert.is(others[0]?.length, 3)
  for (const other of others) assert.is(other, others[0])
  assert.is.not(await table.read(), others[0])
  fake.remove()
})

test('keeps the marker that a process had when it was seen first, until another one has its pid', async () => {
  const fake = fakeProc({ pid, marker: 'i/1' })
  const environ = join(fake.folder, String(pid), 'environ')
  const table = new ProcessTable(fake.folder)
  const find = async (): Promise<number> =>
    (await table.selectMarked(await table.read() ?? [], (marker) => marker === 'i/1')).length
  assert.is(await find(), 1)
  writeFileSync(environ, 'A=1\0')
  assert.is(await find(), 1)
  writeFileSync(join(fake.folder, String(pid), 'stat'), statLine({ pid, session: 2, start: 6000 }))
  assert.is(await find(), 0)
  fake.remove()
})

test('asks again for the marker of a process that showed no environment', async () => {
  const fake = fakeProc({ pid, marker: 'i/1' })
  const environ = join(fake.folder, String(pid), 'environ')
  const table = new ProcessTable(fake.folder)
  const find = async (): Promise<number> =>
    (await table.selectMarked(await table.read() ?? [], (marker) => marker === 'i/1')).length
  writeFileSync(environ, '')
  assert.is(await find(), 0)
  rmSync(environ)
  assert.is(await find(), 0)
  writeFileSync(environ, 'AGENT_SERVER_CHILD=i/1\0')
  assert.is(await find(), 1)
  fake.remove()
})

test('there is one table for a mount of proc, and none of processes where there is no proc', async () => {
  assert.is(processTable('/no/proc/here'), processTable('/no/proc/here'))
  assert.is(await processTable('/no/proc/here').read(), undefined)
})

test.run()
