import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import {
  bodyOf, clientSignal, conversationIdOf, ok, optionalBodyOf, queryOf, success, tooLong, type Call,
} from '../../src/api/call.ts'
import { AppError, type Issue } from '../../src/base/errors.ts'
import { integer, text, withDefault } from '../../src/http/query.ts'
import { owner } from '../../src/api/permission.ts'
import { createExchange } from '../../src/http/reply.ts'
import { ConfirmationResponseRequest, ForkConversationRequest } from '../../src/schema/generated/conversations.ts'

const test = suite('api/call')

function callOf(parts: Partial<Call>): Call {
  const request = new IncomingMessage(new Socket())
  const exchange = createExchange(request, new ServerResponse(request), () => 'id')
  return { exchange, principal: owner, parameters: {}, query: '', body: undefined, ...parts }
}

function issuesOf(work: () => unknown): readonly Issue[] {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'invalid_input') return thrown.issues
    throw thrown
  }
  throw new Error('it was taken')
}

test('a body is given in its normal form', () => {
  assert.equal(bodyOf(callOf({ body: { accept: true, more: 1 } }), ConfirmationResponseRequest), {
    accept: true, reason: 'User rejected the action.',
  })
})

test('a body that is missing or wrong is refused, with every place behind "body"', () => {
  const locs = (body: unknown): unknown =>
    issuesOf(() => bodyOf(callOf({ body }), ConfirmationResponseRequest)).map(({ loc, type }) => [...loc, type])
  assert.equal(locs(undefined), [['body', 'missing']])
  assert.equal(locs({}), [['body', 'accept', 'missing']])
  assert.equal(
    issuesOf(() => bodyOf(callOf({ body: { accept: 'x', reason: 5 } }), ConfirmationResponseRequest)).length, 2,
  )
})

test('a body that may be left out stands for an empty one', () => {
  assert.equal(optionalBodyOf(callOf({}), ForkConversationRequest), { reset_metrics: true })
  assert.equal(
    issuesOf(() => optionalBodyOf(callOf({ body: [] }), ForkConversationRequest)).map(({ loc }) => loc), [['body']],
  )
})

test('a query is read by its description', () => {
  const fields = { limit: withDefault(integer({ min: 1, max: 100 }), 100), kind: text({ maxLength: 5 }) }
  assert.equal(queryOf(callOf({ query: 'kind=a' }), fields), { limit: 100, kind: 'a' })
  assert.equal(
    issuesOf(() => queryOf(callOf({ query: 'limit=0&kind=abcdef' }), fields)).map(({ loc }) => loc),
    [['query', 'limit'], ['query', 'kind']],
  )
})

test('the conversation id of the path is dashed and lower case, or refused', () => {
  const idOf = (conversation_id: string): string => conversationIdOf(callOf({ parameters: { conversation_id } }))
  const id = 'abcdef00-0000-4000-8000-000000000001'
  for (const form of [id, id.toUpperCase(), id.replaceAll('-', '')]) assert.is(idOf(form), id)
  for (const wrong of ['x', `${id}0`, '../../etc', '']) {
    assert.equal(issuesOf(() => idOf(wrong)).map(({ loc, type }) => [...loc, type]), [
      ['path', 'conversation_id', 'uuid_parsing'],
    ])
  }
})

test('the signal of a client is aborted when it goes away', () => {
  const call = callOf({})
  const signal = clientSignal(call)
  assert.not.ok(signal.aborted)
  call.exchange.response.emit('close')
  assert.ok(signal.aborted)
  assert.instance(signal.reason, AppError)
})

test('small answers have their usual form', () => {
  assert.equal([success.status, String(success.body)], [200, '{"success":true}'])
  assert.equal([ok([1]).status, String(ok([1]).body)], [200, '[1]'])
  assert.equal(tooLong(['query', 'ids'], 5, 4).issues, [
    {
      type: 'too_long',
      loc: ['query', 'ids'],
      msg: 'List should have at most 4 items after validation, not 5',
      ctx: { max_length: 4 },
    },
  ])
})

test.run()
