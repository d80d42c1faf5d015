import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { keyBytes } from '../../../../src/parts/builtin/workspace/keys.ts'

const test = suite('workspace/keys')

const names: [string, string | undefined][] = [
  ['C-c', '\x03'], ['C-C', '\x03'], ['C-d', '\x04'], ['C-z', '\x1a'], ['C-a', '\x01'], ['C-\\', '\x1c'],
  ['C-[', '\x1b'],
  ['UP', '\x1b[A'], ['DOWN', '\x1b[B'], ['RIGHT', '\x1b[C'], ['LEFT', '\x1b[D'], ['HOME', '\x1b[H'], ['END', '\x1b[F'],
  ['PGUP', '\x1b[5~'], ['PGDN', '\x1b[6~'], ['TAB', '\t'], ['ESC', '\x1b'], ['BS', '\x7f'], ['ENTER', '\r'],
  ['up', undefined], ['C-', undefined], ['C-cc', undefined], ['C-1', undefined], ['', undefined], ['text', undefined],
]
for (const [name, bytes] of names) {
  test(`${JSON.stringify(name)} is ${bytes === undefined ? 'text' : `the key ${JSON.stringify(bytes)}`}`, () => {
    assert.is(keyBytes(name), bytes)
  })
}

test.run()
