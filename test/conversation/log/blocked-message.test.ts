/** The mark of a message that a hook has refused. */
import * as assert from 'uvu/assert'
import {
  addedContent, blockedContent, blockedNote, blockedReason,
} from '../../../src/conversation/log/blocked-message.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/blocked message')

test('a refused message tells why', () => {
  assert.is(blockedReason({ source: 'user', extended_content: [blockedContent('too late')] }), 'too late')
  const note = blockedNote('too late')
  assert.is(note.source, 'environment')
  assert.match(JSON.stringify(note), '[Message blocked by hook] too late')
})

test('nothing else passes for one', () => {
  assert.is(blockedReason({ source: 'user', extended_content: [] }), undefined)
  assert.is(blockedReason({ source: 'agent', extended_content: [blockedContent('x')] }), undefined)
  assert.is(
    blockedReason({ source: 'user', extended_content: [addedContent('it is late'), blockedContent('x')] }), undefined,
  )
  assert.is(blockedReason({ source: 'user', extended_content: [addedContent(blockedContent('x').text)] }), undefined)
  assert.is(addedContent('it is late').text, 'it is late')
})

test.run()
