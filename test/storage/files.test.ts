import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { createFiles } from '../../src/storage/files.ts'

const test = suite('storage/files')
const folder = mkdtempSync(join(tmpdir(), 'files-'))
test.after(() => rmSync(folder, { recursive: true }))

for (const hasDataSync of [true, false]) {
  for (const options of [undefined, { writeThrough: true }]) {
    const how = `${options === undefined ? 'with a sync of its own' : 'through'}, ${hasDataSync ? 'with' : 'without'} O_DSYNC`
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

test.run()
