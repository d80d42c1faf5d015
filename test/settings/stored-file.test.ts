/** Whether a stored value is loaded once, changed in order, and never half seen or lost. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { Changes, createStoredFile, type StoredFile } from '../../src/settings/stored-file.ts'
import { suite } from '../support/suite.ts'
import { modeOf, textOf, withFolder } from './folder.ts'

const test = suite('settings/stored-file')

function numbers(path: string, changes?: Changes): StoredFile<readonly number[]> {
  return createStoredFile<readonly number[]>({
    path,
    changes,
    version: 3,
    initial: () => [],
    encode: (list) => ({ list }),
    decode({ list }) {
      if (!Array.isArray(list)) throw new TypeError('Expected a list')
      return list.map(Number)
    },
  })
}

const isUnreadable = (error: unknown): boolean => error instanceof AppError && error.code === 'settings_unreadable'

async function refusal(work: Promise<unknown>): Promise<AppError> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('Expected a refusal')
}

test('begins with the initial value and writes nothing until there is a change', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'list.json')
    const file = numbers(path)
    assert.equal(await file.read(), [])
    assert.equal(await file.update((list) => list), [])
    await textOf(path).then(() => assert.unreachable(), (error: Error) => assert.match(error.message, 'ENOENT'))
  }))

test('keeps a change for the next start, for its owner alone', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'list.json')
    assert.equal(await numbers(path).update((list) => [...list, 1]), [1])
    assert.equal(JSON.parse(await textOf(path)), { version: 3, list: [1] })
    assert.is(await modeOf(path), '0600')
    assert.equal(await numbers(path).read(), [1])
  }))

test('loses none of many changes at once', () =>
  withFolder(async (folder) => {
    const file = numbers(join(folder, 'list.json'))
    await Promise.all(Array.from({ length: 50 }, (_, index) => file.update(async (list) => [...list, index])))
    assert.equal(await file.read(), Array.from({ length: 50 }, (_, index) => index))
  }))

test('goes on after a change that throws', () =>
  withFolder(async (folder) => {
    const file = numbers(join(folder, 'list.json'))
    const failing = file.update(() => {
      throw new AppError('conflict', 'No')
    })
    const following = file.update((list) => [...list, 2])
    assert.is((await refusal(failing)).code, 'conflict')
    assert.equal(await following, [2])
  }))

test('shows nothing that could not be written', () =>
  withFolder(async (folder) => {
    const file = numbers(join(folder, 'missing', 'list.json'))
    assert.is((await refusal(file.update(() => [1]))).code, 'storage_failed')
    assert.equal(await file.read(), [])
  }))

const broken: readonly (readonly [string, string])[] = [
  ['is not JSON', '{"version":3,"list":["canary-secret'],
  ['is empty', ''],
  ['is no object', '[]'],
  ['has no version', '{"list":[]}'],
  ['has a newer version', '{"version":4,"list":[]}'],
  ['does not decode', '{"version":3,"list":"canary-secret"}'],
]
for (const [name, text] of broken) {
  test(`refuses a file that ${name}, and leaves it as it is`, () =>
    withFolder(async (folder) => {
      const path = join(folder, 'list.json')
      await writeFile(path, text)
      const file = numbers(path)
      for (const use of [() => file.read(), () => file.update(() => [1])]) {
        const error = await refusal(use())
        assert.ok(isUnreadable(error))
        assert.match(error.message, /^Cannot read "list\.json": /)
        assert.not.ok(`${error.message}${error.stack}${String(error.cause)}`.includes('canary'))
      }
      assert.is(await textOf(path), text)
    }))
}

test('takes a file that was repaired without a restart', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'list.json')
    await writeFile(path, 'broken')
    const file = numbers(path)
    assert.ok(isUnreadable(await refusal(file.read())))
    await writeFile(path, '{"version":3,"list":[7]}')
    assert.equal(await file.read(), [7])
  }))

test('is read once by readers at the same time', () =>
  withFolder(async (folder) => {
    const file = numbers(join(folder, 'list.json'))
    const [first, second] = await Promise.all([file.read(), file.read()])
    assert.is(first, second)
  }))

test('closed changes refuse later changes, after the changes under way', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'list.json')
    const changes = new Changes()
    const file = numbers(path, changes)
    const early = file.update((list) => [...list, 1])
    const closed = changes.close().then(() => textOf(path))
    assert.is((await refusal(file.update((list) => [...list, 2]))).code, 'unavailable')
    assert.is((await refusal(file.rewrite())).code, 'unavailable')
    assert.equal(JSON.parse(await closed), { version: 3, list: [1] })
    assert.equal(await early, [1])
    assert.equal(await file.read(), [1])
  }))

test.run()
