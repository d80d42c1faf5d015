import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { createFiles, nodeFiles } from '../../src/storage/files.ts'
import { fenceFolder } from '../../src/base/write-fence.ts'

const test = suite('storage/files')
const folder = mkdtempSync(join(tmpdir(), 'files-'))
test.after(() => rmSync(folder, { recursive: true }))

for (const hasDataSync of [true, false]) {
  for (const options of [undefined, { writeThrough: true }]) {
    const how = `${options === undefined ? 'with a sync of its own' : 'through'}, ` +
      `${hasDataSync ? 'with' : 'without'} O_DSYNC`
    test(`writes at a position ${how}, reads, cuts and keeps the file for its owner`, async () => {
      const path = join(folder, how)
      const file = await createFiles({ hasDataSync }).open(path, options)
      await file.write(Buffer.from('0123456789'), 0)
      await file.write(Buffer.from('ab'), 4)
      await file.sync()
      assert.is((await file.read(100, 2)).toString(), '23ab6789')
      await file.truncate(6)
      assert.is(await file.size(), 6)
      await file.close()
      assert.is(readFileSync(path, 'utf8'), '0123ab')
      assert.is(statSync(path).mode & 0o777, 0o600)
    })
  }
}

test('a folder that may be another server\'s is not changed any more, and still read', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'owned-files-'))
  let isOurs = true
  const unfence = fenceFolder(directory, () => isOurs)
  try {
    const path = join(directory, 'file')
    const file = await nodeFiles.open(path, { writeThrough: true })
    await file.write(Buffer.from('ours'), 0)
    isOurs = false
    for (const change of [file.write(Buffer.from('lost'), 0), file.truncate(0)]) {
      const thrown = await change.then(() => undefined, (error: unknown) => error)
      assert.match(String(thrown), 'another server may own the data folder')
    }
    assert.equal(await file.read(10, 0), Buffer.from('ours'))
    await file.close()
    assert.is(readFileSync(path, 'utf8'), 'ours')
    const missing = await nodeFiles.open(join(directory, 'missing')).catch((thrown: unknown) => String(thrown))
    assert.match(String(missing), 'ENOENT')
  } finally {
    unfence()
    rmSync(directory, { recursive: true })
  }
})

test.run()
