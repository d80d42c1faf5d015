/**
 * `node renaming-wrapper.js PROGRAM [WORD ...]`: an ACP agent that is another one under a name that nobody knows.
 *
 * Everything is handed on as it is, but `agentInfo` in the answer to `initialize`.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isObject } from '../../src/base/json.ts'

const [program = '', ...words] = process.argv.slice(2)
const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.pipe(child.stdin)
child.once('exit', (code) => process.exit(code ?? 1))
createInterface({ input: child.stdout }).on('line', (line) => process.stdout.write(`${rename(line)}\n`))

function rename(line: string): string {
  const message: unknown = line.includes('"agentInfo"') ? JSON.parse(line) : undefined
  if (!isObject(message) || !isObject(message['result'])) return line
  const agentInfo = { name: 'somebody-else', version: '1.0.0' }
  return JSON.stringify({ ...message, result: { ...message['result'], agentInfo } })
}
