/**
 * `npm run real-mcp`: published MCP servers as tools of the built-in agent, over each way to reach them.
 *
 * Installs the servers with npm into a folder of its own, starts the built server, and has a scripted model call tools
 * in one conversation for each server; a try by `POST /api/mcp/test` comes first. Prints a table, checks that no
 * process is left, and ends with 1 when something is not as it should be. Nothing is left.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnthropicModel } from '../test/fixtures/anthropic-model.ts'
import { commandLine } from './command-line.ts'
import { startBuiltServer, type BuiltServer } from './real/built-server.ts'
import { listAt, memberAt } from './real/member.ts'
import { markedProcesses } from './real/processes.ts'
import { callServer } from './real/rest.ts'
import { Talk } from './real/talk.ts'

/** The third holds an example of a server with OAuth, and of an authorization server. */
const packages = [
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/server-filesystem@2026.8.31',
  '@modelcontextprotocol/sdk@1.32.2',
]

interface Target {
  readonly name: string
  readonly server: object
  /** Somebody has to agree first. */
  readonly needsLogin?: true
  /** Calls, each with an expression that its result has to match. */
  readonly calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>, expected: RegExp])[]
}

commandLine({
  command: 'npm run real-mcp',
  help: 'Drives published MCP servers as tools of the built-in agent, over each transport.',
})
const folder = await mkdtemp(join(tmpdir(), 'real-mcp-'))
const programs: ChildProcess[] = []
let failed = 0
try {
  await run('npm', [
    'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, ...packages,
  ])
  const server = await startBuiltServer(folder, ['--workspace-dir', join(folder, 'workspace')])
  try {
    print('server                   tools  calls  seconds')
    for (const target of await targets()) await tryTarget(server, target)
    const left = await markedProcesses(server.instance)
    check('no process is left', left.length === 0, JSON.stringify(left))
  } finally {
    await server.stop()
  }
} finally {
  for (const program of programs) program.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}
print(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function targets(): Promise<readonly Target[]> {
  const everything = programOf('server-everything')
  const calls: Target['calls'] = [
    ['echo', { message: 'hello' }, /Echo: hello/],
    ['get-sum', { a: 2, b: 40 }, /42/],
    ['get-sum', { a: 'two' }, /validation.*"is_error":true/],
    ['get-structured-content', { location: 'Chicago' }, /temperature/],
    ['get-tiny-image', {}, /data:image\/png;base64,/],
    ['get-resource-reference', {}, /demo:\/\/resource/],
    ['trigger-long-running-operation', { duration: 3, steps: 6 }, /completed/],
  ]
  return [
    { name: 'everything, stdio', server: { command: 'node', args: [everything, 'stdio'] }, calls },
    { name: 'everything, HTTP', server: { url: `${await startRemote(everything, 'streamableHttp')}/mcp` }, calls },
    {
      name: 'everything, SSE', server: { url: `${await startRemote(everything, 'sse')}/sse`, transport: 'sse' }, calls,
    },
    {
      name: 'filesystem, stdio',
      server: { command: 'node', args: [programOf('server-filesystem'), folder] },
      calls: [
        ['write_file', { path: join(folder, 'note.txt'), content: 'kept' }, /Successfully wrote/],
        ['read_text_file', { path: join(folder, 'note.txt') }, /kept/],
        ['read_text_file', { path: '/etc/hostname' }, /denied.*"is_error":true/],
      ],
    },
    {
      name: 'SDK example, OAuth',
      server: { url: await startProtected(), auth: { strategy: 'oauth2' } },
      needsLogin: true,
      calls: [['greet', { name: 'stranger' }, /Hello, stranger/]],
    },
  ]
}

async function tryTarget(server: BuiltServer, { name, server: settings, needsLogin, calls }: Target): Promise<void> {
  const start = Date.now()
  if (needsLogin) await signIn(server, settings)
  const tried = await callServer(server, 'POST', '/api/mcp/test', { name: 'tried', server: settings, timeout: 60 })
  const tools = listAt(tried, 'tools').length
  check(`${name}: can be tried`, memberAt(tried, 'ok') === true && tools > 0, JSON.stringify(tried))
  const steps = calls.map(([tool, input]) => ({ toolCall: { name: tool, input } }))
  const model = await startAnthropicModel({ script: () => steps })
  try {
    const llm = { model: 'anthropic/stand-in', base_url: model.url, api_key: 'no-key-is-needed' }
    const agent = { kind: 'Agent', llm, tools: [], mcp_config: { tried: settings } }
    const talk = new Talk(
      server, String(memberAt(await callServer(server, 'POST', '/api/conversations', { agent }), 'id')),
    )
    await talk.send('Go')
    await talk.untilEnd()
    const answers = (await talk.events()).filter((event) => memberAt(event, 'kind') === 'ObservationEvent')
    calls.forEach(([tool, , expected], place) => {
      const answer = JSON.stringify(memberAt(answers[place], 'observation') ?? 'nothing')
      check(`${name}: ${tool}`, expected.test(answer), answer.slice(0, 500))
    })
    await talk.close()
    await callServer(server, 'DELETE', `/api/conversations/${talk.id}`)
  } finally {
    await model.close()
  }
  print(
    `${name.padEnd(24)} ${String(tools).padStart(5)} ${String(calls.length).padStart(6)} ` +
      `${((Date.now() - start) / 1000).toFixed(1).padStart(8)}`,
  )
}

/** As a browser does whose user agrees to everything. */
async function signIn(server: BuiltServer, settings: object): Promise<void> {
  const request = { name: 'tried', server: settings, timeout: 60 }
  const before = await callServer(server, 'POST', '/api/mcp/test', request)
  check('OAuth: needs a login', memberAt(before, 'ok') === false, JSON.stringify(before))
  const begun = await callServer(server, 'POST', '/api/mcp/oauth/start', request)
  const url = String(memberAt(begun, 'authorization_url'))
  check('OAuth: has an address for the browser', url.startsWith('http://localhost:'), JSON.stringify(begun))
  const page = await fetch(url)
  check(
    'OAuth: the browser ends at a page of ours',
    page.status === 200 && page.url.startsWith(server.url),
    `${page.status} ${page.url}`,
  )
  await page.text()
  for (;;) {
    const now = await callServer(server, 'GET', `/api/mcp/oauth/status/${String(memberAt(begun, 'job_id'))}`)
    const status = memberAt(now, 'status')
    if (status === 'failed') return check('OAuth: signs in', false, JSON.stringify(now))
    if (status === 'succeeded') return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function programOf(name: string): string {
  return join(folder, 'node_modules', '@modelcontextprotocol', name, 'dist', 'index.js')
}

async function startRemote(program: string, kind: string): Promise<string> {
  const port = await freePort()
  return startProgram([program, kind], { PORT: String(port) }, `http://127.0.0.1:${port}`)
}

/** With an authorization server beside it; both call themselves localhost. */
async function startProtected(): Promise<string> {
  const [port, authPort] = [await freePort(), await freePort()]
  const program = join(
    folder, 'node_modules', '@modelcontextprotocol', 'sdk', 'dist', 'esm', 'examples', 'server',
    'simpleStreamableHttp.js',
  )
  const variables = { MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) }
  return `${await startProgram([program, '--oauth', '--oauth-strict'], variables, `http://localhost:${port}`)}/mcp`
}

/** Resolves when the server takes connections. */
async function startProgram(
  args: readonly string[], variables: Readonly<Record<string, string>>, url: string,
): Promise<string> {
  const child = spawn('node', args, { env: { PATH: process.env['PATH'], ...variables }, stdio: 'ignore' })
  programs.push(child)
  for (let tries = 0; tries < 300; tries++) {
    if (await fetch(url, { signal: AbortSignal.timeout(1000) }).then(() => true, () => false)) return url
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${args.join(' ')} did not listen at ${url}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('Expected a port')
  return address.port
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}`)
}

function check(what: string, isRight: boolean, seen: string): void {
  if (isRight) return
  failed++
  print(`FAIL ${what}: ${seen}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
