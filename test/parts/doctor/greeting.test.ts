/** An agent program introduces itself, or it is said why not; nothing of it is left. */
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import { greet, type Greeting, type GreetOptions } from '../../../src/parts/doctor/greeting.ts'
import { startChild } from '../../../src/process/child.ts'
import { Family } from '../../../src/process/family.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp greeting')
const instance = `greeting${process.pid}`

test.after(async () => {
  const left = await new Family({ isMarked: (marker) => marker.startsWith(`${instance}/`) }).find()
  assert.equal(left ?? [], [])
})

/** A program of one line of JavaScript that may use `answer(result)` at the first line that it reads. */
function greetProgram(code: string, changes: Partial<GreetOptions> = {}): Promise<Greeting> {
  const answer = `const answer = (result) => process.stdin.once('data', () => console.log(JSON.stringify({ jsonrpc: ` +
    `'2.0', id: 1, result })))\n`
  const env = { PATH: process.env['PATH'] ?? '' }
  const program = {
    command: process.execPath, args: ['-e', answer + code], cwd: tmpdir(), env, marker: `${instance}/${randomUUID()}`,
  }
  return greet({
    program, startProcess: startChild, version: '0.0.0', timeoutMs: 20_000, signal: new AbortController().signal,
    ...changes,
  })
}

test('tells name, version and the ways to sign in', async () => {
  const info = `{ protocolVersion: 1, agentInfo: { name: 'agent', version: '1.2.3' }, authMethods: [{ id: 'key' }, { ` +
    `name: 'x' }, 7] }`
  assert.equal(await greetProgram(`answer(${info})`), { name: 'agent', version: '1.2.3', authMethods: ['key'] })
  assert.equal(await greetProgram('answer({ protocolVersion: 1 })'), {
    name: 'unknown', version: 'unknown', authMethods: [],
  })
})

const failures: [name: string, code: string, words: RegExp, timeoutMs?: number][] = [
  ['speaks another version', 'answer({ protocolVersion: 2 })', /speaks version 2 of ACP, expected 1/],
  ['ends at once, with what it wrote', 'console.error("no configuration"); process.exitCode = 4',
    /exited with code 4; it wrote: no configuration/],
  ['says nothing', 'process.stdin.resume()', /initialize/, 200],
]
for (const [name, code, words, timeoutMs = 20_000] of failures) {
  test(`says why a program does not answer that ${name}`, async () => {
    assert.match(String(await greetProgram(code, { timeoutMs }).catch((error: unknown) => error)), words)
  })
}

test('ends a program when it is interrupted', async () => {
  const ended = new AbortController()
  const greeting = greetProgram('process.stdin.resume()', { signal: ended.signal })
  ended.abort(new Error('Interrupted'))
  assert.match(String(await greeting.catch((error: unknown) => error)), /^Error: Interrupted$/)
})

test.run()
