import * as assert from 'uvu/assert'
import { unmask } from '../../src/ws/mask.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/mask')

test('unmasks the example of RFC 6455, section 5.7', () => {
  const payload = Buffer.from('7f9f4d5158', 'hex')
  unmask(payload, Buffer.from('37fa213d', 'hex').readInt32LE())
  assert.is(payload.toString(), 'Hello')
})

test('agrees with the definition at every alignment and length, and touches nothing else', () => {
  const key = Buffer.from([0x80, 0xff, 0x01, 0x7e])
  for (let start = 0; start < 9; start++) {
    for (const length of [0, 1, 2, 3, 4, 5, 62, 63, 64, 65, 66, 67, 68, 127, 255]) {
      const memory = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7) & 0xff))
      const expected = Buffer.from(memory)
      for (let index = 0; index < length; index++)
        expected[start + index] = expected.readUInt8(start + index) ^ key.readUInt8(index % 4)
      unmask(memory.subarray(start, start + length), key.readInt32LE())
      assert.ok(memory.equals(expected), `start ${start}, length ${length}`)
    }
  }
})

test.run()
