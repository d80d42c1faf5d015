/**
 * `npm run real-install`: installs the published agents of the provider table with `agent-server agents`, as an
 * operator would, and checks the promises of that command: they start, a run leaves the files as they were, a changed
 * byte is found and refused.
 *
 * Uses npm and its registry. Prints time, size and number of files of each agent, and ends with 1 when a check fails.
 * Words name agents. Nothing is left.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAcpServer } from '../src/schema/generated/settings.ts'
import { builtInProviders } from '../src/settings/providers-table.ts'
import { commandLine } from './command-line.ts'
import { serverProgram, startBuiltServer } from './real/built-server.ts'
import { memberAt } from './real/member.ts'
import { callServer } from './real/rest.ts'
import { Talk } from './real/talk.ts'

const installable = builtInProviders.filter(({ packageName }) => packageName !== '').map(({ name }) => name)
const { words } = commandLine({
  command: 'npm run real-install',
  help: 'Installs published agents, checks them, changes a byte and sees the refusal.',
  words: { name: 'AGENT', help: 'Only these agents', choices: installable },
})
const names = words.length > 0 ? words : installable
const folder = await mkdtemp(join(tmpdir(), 'real-install-'))
const data = join(folder, 'data')
let failed = 0
try {
  for (const name of names) await tryAgent(name)
} finally {
  await rm(folder, { recursive: true, force: true })
}
print(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function tryAgent(name: string): Promise<void> {
  await expectRun(['agents', 'install', name], 0, /installed/)
  await expectRun(['agents', 'verify', name], 0, /every digest is right/)
  await expectRun(['doctor', name], 0, /answers as/)
  await expectRun(['agents', 'verify', name], 0, /every digest is right/)
  const { path, entry } = await entryOf(name)
  await flipBit(path)
  await expectRun(['agents', 'verify', name], 1, new RegExp(`changed: ${entry}`))
  await expectRun(['doctor', name], 1, /was changed after it was installed/)
  check('the server refuses the changed agent', await failureOf(name), /ACPSpawnError.*was changed/)
  await flipBit(path)
  await expectRun(['agents', 'verify', name], 0, /every digest is right/)
  await expectRun(['doctor', name], 0, /answers as/)
  await expectRun(['agents', 'remove', name], 0, /removed/)
  check('the server says how to install it', await failureOf(name), /ACPSpawnError.*agents install/)
}

/** Runs the built program with a data folder and a home of its own. */
async function expectRun(words: readonly string[], code: number, output: RegExp): Promise<void> {
  const args = [serverProgram, ...words, '--data-dir', data, '--workspace-dir', join(folder, 'workspace')]
  // The real home is where npm is configured; agents get the other one.
  const env = words[0] === 'doctor' ? { PATH: process.env['PATH'], HOME: folder } : process.env
  const start = Date.now()
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines = text.split('\n').filter((line) => output.test(line))
  for (const line of lines) print(`  ${line}`)
  check(
    `agent-server ${words.join(' ')} (${((Date.now() - start) / 1000).toFixed(1)} s)`,
    ended === code ? text : `exit code ${ended}: ${text}`,
    output,
    ended === code,
  )
}

async function entryOf(name: string): Promise<{ readonly path: string, readonly entry: string }> {
  const record: unknown = JSON.parse(await readFile(join(data, 'agents', `${name}.json`), 'utf8'))
  const entry = String(memberAt(record, 'entry'))
  return { path: join(data, 'agents', String(memberAt(record, 'folder')), entry), entry }
}

/** Changes one bit in the middle of a file, in place. */
async function flipBit(path: string): Promise<void> {
  const { size } = await stat(path)
  const file = await open(path, 'r+')
  try {
    const byte = Buffer.alloc(1)
    const position = Math.floor(size / 2)
    await file.read(byte, 0, 1, position)
    byte.writeUInt8(byte.readUInt8(0) ^ 1)
    await file.write(byte, 0, 1, position)
  } finally {
    await file.close()
  }
}

/** The error that ends the first turn of a conversation with this preset. */
async function failureOf(name: string): Promise<string> {
  const server = await startBuiltServer(folder, ['--workspace-dir', join(folder, 'workspace')])
  try {
    const choice = isAcpServer(name)
      ? { acp_server: name, acp_command: [] }
      : { acp_server: 'custom', acp_command: [name] }
    const request = { agent: { kind: 'ACPAgent', ...choice } }
    const talk = new Talk(
      server, String(memberAt(await callServer(server, 'POST', '/api/conversations', request), 'id')),
    )
    await talk.send('hello')
    const failure = await talk.until('an error', (frame) => memberAt(frame, 'kind') === 'ConversationErrorEvent')
    await talk.close()
    return JSON.stringify(failure)
  } finally {
    await server.stop()
  }
}

function check(what: string, seen: string, expected: RegExp, isRightCode = true): void {
  const isRight = isRightCode && expected.test(seen)
  if (!isRight) failed++
  print(`${isRight ? 'ok  ' : 'FAIL'} ${what}${isRight ? '' : `: expected ${expected}, seen ${seen}`}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
