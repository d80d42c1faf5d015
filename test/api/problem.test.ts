import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { jsonResponse, problem } from '../../src/api/problem.ts'
import { AppError, type ErrorCode } from '../../src/base/errors.ts'
import { createLog, silentLog } from '../../src/base/log.ts'
import { objectOf } from '../support/conversation.ts'

const test = suite('api/problem')

const statuses: readonly (readonly [status: number, codes: readonly ErrorCode[]])[] = [
  [400, ['bad_request']],
  [401, ['unauthorized']],
  [403, ['host_not_allowed', 'origin_not_allowed']],
  [404, ['not_found']],
  [405, ['method_not_allowed']],
  [408, ['request_timeout']],
  [409, ['conflict', 'already_running', 'settings_unreadable']],
  [413, ['body_too_large']],
  [414, ['uri_too_long']],
  [415, ['unsupported_media_type']],
  [422, ['invalid_input', 'idempotency_mismatch', 'address_refused']],
]
for (const [status, codes] of statuses) {
  test(`answers ${codes.join(', ')} with ${status} and the words of the error`, () => {
    for (const code of codes) {
      const answer = problem(new AppError(code, 'What went wrong'), silentLog, 'request-1')
      assert.is(answer.status, status)
      assert.equal(bodyOf(answer), { detail: 'What went wrong' })
    }
  })
}

const deliberate: readonly (readonly [status: number, detail: string, codes: readonly ErrorCode[]])[] = [
  [500, 'Internal Server Error',
    ['storage_failed', 'format_unsupported', 'cannot_listen', 'invalid_option']],
  [502, 'Bad Gateway', ['agent_failed', 'upstream_failed']],
  [503, 'Service Unavailable', ['unavailable', 'owned_by_another']],
  [504, 'Gateway Timeout', ['agent_timeout', 'upstream_timeout']],
  [507, 'Insufficient Storage', ['storage_full']],
]
for (const [status, detail, codes] of deliberate) {
  test(`answers ${codes.join(', ')} with ${status} and the words where clients look for them`, () => {
    for (const code of codes) {
      const answer = problem(new AppError(code, 'What went wrong'), silentLog, 'request-1')
      assert.is(answer.status, status)
      assert.equal(bodyOf(answer), { detail, exception: `${status}: What went wrong` })
    }
  })
}

test('lists every place that is wrong, without what may be secret', () => {
  const issues = [
    { loc: ['body', 'limit'], msg: 'Too small', type: 'greater_than_equal', input: 0, ctx: { ge: 1 } },
    { loc: ['body', 'api_key'], msg: 'Wrong', type: 'string_type', input: 'CANARY' },
  ]
  const answer = problem(new AppError('invalid_input', 'The request is not valid', { issues }), silentLog, 'request-1')
  assert.is(answer.status, 422)
  assert.equal(bodyOf(answer), {
    detail: [issues[0], { loc: ['body', 'api_key'], msg: 'Wrong', type: 'string_type', input: '<redacted>' }],
  })
})

test('tells nothing of what it did not expect but an id that the log has too', () => {
  for (const thrown of [new TypeError('CANARY'), 'CANARY']) {
    const lines: string[] = []
    const log = createLog({ write: (line) => lines.push(line), level: 'info', clock: () => 0, mask: (line) => line })
    const answer = problem(thrown, log, 'request-1')
    assert.is(answer.status, 500)
    const body = bodyOf(answer)
    assert.not.match(JSON.stringify(body), 'CANARY')
    const { error_id: id, ...rest } = objectOf(body)
    assert.equal(rest, { detail: 'Internal Server Error', exception: 'Unexpected error' })
    assert.match(lines.join(), String(id))
    assert.match(lines.join(), 'request-1')
    assert.match(lines.join(), 'CANARY')
  }
})

test('logs a limit that a client can reach in a loop at the level debug, and a full disk at info', () => {
  const limit = { limit: 2, used: 2 }
  for (const [code, level] of [
    ['too_many_conversations', 'debug'], ['too_many_runs', 'debug'], ['storage_full', 'info'],
  ] as const) {
    const lines: string[] = []
    const log = createLog({ write: (line) => lines.push(line), level: 'debug', clock: () => 0, mask: (line) => line })
    problem(new AppError(code, 'What went wrong', { limit }), log, 'request-1')
    const logged = lines.map((line) => objectOf(JSON.parse(line)))
    assert.equal(logged.map((line) => [line['level'], line['code']]), [[level, code]])
  }
})

test('prints a value as JSON', () => {
  const answer = jsonResponse(201, { a: 'ü' })
  assert.is(answer.status, 201)
  assert.is(String(answer.body), '{"a":"ü"}')
})

function bodyOf(answer: ReturnType<typeof problem>): unknown {
  return JSON.parse(String(answer.body))
}

test.run()
