import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { createLog, silentLog, type LogLevel } from '../../src/base/log.ts'

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

test('adds the stack of an error at level debug only', () => {
  const failure = new Error('boom')
  const quiet = collect('info')
  quiet.log.error('Failed', { error: failure })
  assert.is(JSON.parse(quiet.lines[0] ?? '').error_stack, undefined)
  const verbose = collect('debug')
  verbose.log.error('Failed', { error: failure })
  assert.match(JSON.parse(verbose.lines[0] ?? '').error_stack, 'Error: boom')
})

test('the silent log takes everything and says nothing', () => {
  silentLog.debug('a')
  silentLog.info('a')
  silentLog.warn('a')
  silentLog.error('a')
})

test.run()
