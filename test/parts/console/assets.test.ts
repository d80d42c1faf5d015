import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { Asset } from '../../../src/parts/console/assets.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/console: files of the page')

test('a file is compressed once for each coding, at the first request', async () => {
  const plain = Buffer.from('const answer = 42\n'.repeat(1000))
  const asset = new Asset('answer.js', plain)
  assert.is(asset.type, 'text/javascript; charset=utf-8')
  assert.ok(gunzipSync(await asset.gzip()).equals(plain))
  assert.ok(brotliDecompressSync(await asset.brotli()).equals(plain))
  assert.is(await asset.gzip(), await asset.gzip())
  assert.is(await asset.brotli(), await asset.brotli())
})

test.run()
