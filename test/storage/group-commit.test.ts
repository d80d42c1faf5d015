/** Groups of lines that wait for one another: how they fail, and the writes that closing waits for. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { TestDisk } from '../support/test-disk.ts'
import { allEvents, assertSameLines, codeOfFailure, eventMaker, openTestLog, withFolder } from './samples.ts'

const test = suite('storage/group-commit')

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function untilWriting(disk: TestDisk): Promise<void> {
  while (disk.waiting === 0) await turn()
}

test('when a write fails, what waits behind it fails with it, and none of it comes back', () => withFolder(async (
  directory,
) => {
  const disk = new TestDisk()
  const { log } = await openTestLog(directory, { files: disk })
  const make = eventMaker()
  const kept = make()
  log.append(kept)
  await log.durable()
  disk.hold()
  log.append(make())
  const first = codeOfFailure(log.durable())
  await untilWriting(disk)
  log.append(make())
  const second = codeOfFailure(log.durable())
  disk.fail('EIO')
  disk.release()
  assert.equal([await first, await second], ['storage_failed', 'storage_failed'])
  disk.heal()
  await log.reopen()
  const next = make()
  log.append(next)
  await log.durable()
  assertSameLines(await allEvents(log), [kept, next])
  await log.close()
}))

test('a log is closed when what was appended is durable, however long that takes', () => withFolder(async (
  directory,
) => {
  const disk = new TestDisk()
  const { log } = await openTestLog(directory, { files: disk })
  const make = eventMaker()
  const lines = [make(), make()]
  disk.hold()
  log.append(lines[0] ?? '')
  await untilWriting(disk)
  log.append(lines[1] ?? '')
  let isClosed = false
  const closing = log.close().then(() => (isClosed = true))
  for (let count = 0; count < 50; count++) await turn()
  assert.not(isClosed)
  disk.release()
  await closing
  const again = await openTestLog(directory)
  assertSameLines(await allEvents(again.log), lines)
  await again.log.close()
}))

test.run()
