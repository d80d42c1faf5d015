/** When the answers leave to requests that change a run. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import type { Call } from '../../src/api/call.ts'
import { interrupt, pause, setConfirmationPolicy, setSecurityAnalyzer } from '../../src/api/runs.ts'
import { owner } from '../../src/api/permission.ts'
import { createExchange } from '../../src/http/reply.ts'
import { withConversation } from '../support/conversation.ts'
import { suite } from '../support/suite.ts'

const test = suite('api/runs')

function callOf(conversation_id: string, body: unknown): Call {
  const request = new IncomingMessage(new Socket())
  const exchange = createExchange(request, new ServerResponse(request), () => 'id')
  return { exchange, principal: owner, parameters: { conversation_id }, query: '', body }
}

for (const [name, handler, body] of [
  ['pause', pause, undefined],
  ['interrupt', interrupt, undefined],
  ['confirmation_policy', setConfirmationPolicy, { policy: { kind: 'AlwaysConfirm' } }],
  ['security_analyzer', setSecurityAnalyzer, { security_analyzer: { kind: 'LLMSecurityAnalyzer' } }],
] as const) {
  test(`${name} is answered after the frames that tell of it`, () => withConversation(async (conversation) => {
    const done: string[] = []
    // Writes as a connection does: all data of a turn of the event loop is written at the end of that turn.
    const write = (): boolean => {
      setImmediate(() => done.push('written'))
      return true
    }
    conversation.join({ from: 'now', encode: (json) => json, sink: { write, end: () => undefined } })
    await new Promise((resolve) => setImmediate(resolve))
    done.length = 0
    await handler({ service: { open: async () => conversation } }, callOf(conversation.id, body))
    done.push('answered')
    assert.equal(done.slice(-2), ['written', 'answered'])
  }))
}

test.run()
