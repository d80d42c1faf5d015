/** Addresses in texts of agents: which of them become links and images. */
import * as assert from 'uvu/assert'
import { isSafeAddress } from '../../../../src/parts/console/page/safe-address.ts'
import { isSafeLink } from '../../../../src/parts/console/page/conversation/markdown-inline.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: addresses')
const hostile = [
  'javascript:alert(1)', ' javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\nscript:alert(1)', 'vbscript:x',
  'data:text/html,<script>1</script>', 'data:image/svg+xml,<svg onload=alert(1)>',
  'data:image/svg+xml;base64,AA==', 'file:///etc/passwd',
]

const isSafe = (address: string): boolean => isSafeAddress(address, 'http://127.0.0.1:8000/console/')

test('no element gets an address that runs a script', () => {
  assert.equal(hostile.filter((address) => isSafe(address)), [])
  assert.ok(isSafe('https://good.test/') && isSafe('assets/icon.svg') && isSafe('data:image/png;base64,AA=='))
})

test('Markdown makes links from http, https and mailto addresses only', () => {
  assert.equal([...hostile, '', '//evil.test/', '#/settings'].filter((address) => isSafeLink(address)), [])
  assert.ok(isSafeLink('https://good.test/') && isSafeLink('mailto:a@good.test'))
})

test.run()
