import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { createLog, silentLog, withFields, type LogLevel } from '../../src/base/log.ts'

const test = suite('base/log')

function collect(level: LogLevel): { lines: string[]; log: ReturnType<typeof createLog> } {
  const lines: string[] = []
  const log = createLog({
    write: (line) => lines.push(line),
    level,
    clock: () => Date.parse('2026-11-21T12:00:00.000Z'),
    mask: (line) => line.replaceAll('hunter2hunter2', '<secret-hidden>'),
  })
  return { lines, log }
}

test('writes one JSON object and a newline for a message', () => {
  const { lines, log } = collect('info')
  log.info('Started', { port: 8000, host: undefined })
  assert.equal(lines, ['{"time":"2026-11-21T12:00:00.000000Z","level":"info","message":"Started","port":8000}\n'])
})

test('leaves out what is below its level', () => {
  const { lines, log } = collect('warn')
  log.debug('a')
  log.info('b')
  log.warn('c')
  log.error('d')
  assert.equal(lines.map((line) => JSON.parse(line).message), ['c', 'd'])
})

test('masks secrets in fields and in errors', () => {
  const { lines, log } = collect('info')
  log.warn('Failed', { error: new Error('key hunter2hunter2 refused'), key: 'hunter2hunter2' })
  assert.not.match(lines.join(''), 'hunter2')
})

test('tells an error with its stack and its causes at warn and above, and at debug at every level', () => {
  const failure = new Error('boom', { cause: new TypeError('hunter2hunter2 is why') })
  for (const level of ['warn', 'error'] as const) {
    const { lines, log } = collect('error')
    const { lines: more, log: verbose } = collect('info')
    log.error('Failed', { error: failure })
    verbose[level]('Failed', { error: failure })
    for (const line of [lines[0], more[0]]) {
      const { error, error_stack: stack } = JSON.parse(line ?? '')
      assert.is(error, 'boom')
      assert.match(stack, /^Error: boom\n +at .*log\.test/)
      assert.match(stack, /\nCaused by: TypeError: <secret-hidden> is why\n +at /)
    }
  }
  const { lines, log } = collect('info')
  log.info('Failed', { error: failure })
  assert.is(JSON.parse(lines[0] ?? '').error_stack, undefined)
  const debugging = collect('debug')
  debugging.log.info('Failed', { error: failure })
  assert.match(JSON.parse(debugging.lines[0] ?? '').error_stack, 'Error: boom')
})

test('bounds what it tells of causes without end', () => {
  const failure = new Error('round and round')
  failure.cause = failure
  failure.stack = 'x'.repeat(1_000_000)
  const { lines, log } = collect('info')
  log.error('Failed', { error: failure })
  assert.ok((lines[0]?.length ?? 0) < 20_000)
})

test('a log with fields adds them to every line', () => {
  const { lines, log } = collect('debug')
  const narrow = withFields(log, { conversation_id: 'c', code: 1 })
  narrow.debug('a')
  narrow.info('b', { code: 2 })
  narrow.warn('c')
  narrow.error('d')
  assert.equal(
    lines.map((line) => JSON.parse(line)).map(({ level, conversation_id, code }) => [level, conversation_id, code]),
    [
      ['debug', 'c', 1], ['info', 'c', 2], ['warn', 'c', 1], ['error', 'c', 1],
    ],
  )
})

test('the silent log takes everything and says nothing', () => {
  silentLog.debug('a')
  silentLog.info('a')
  silentLog.warn('a')
  silentLog.error('a')
})

test.run()
