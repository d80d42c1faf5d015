/**
 * `npm run examples`: compiles and runs the examples of `scripts/examples` as a host would have them.
 *
 * Packs this package, installs it outside the tree beside Express, Fastify and the two newest releases of TypeScript,
 * compiles the examples with both under the strictest rules, then runs each and talks to the bots. The types of the web
 * frameworks are theirs, so only programs without a framework are compiled with `skipLibCheck: false`.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { commandLine } from './command-line.ts'
import { listAt, memberAt } from './real/member.ts'

const compilers = { 'typescript-7': 'typescript@7.0.2', 'typescript-6': 'typescript@6.0.3' }
const packages = ['express@5.3.0', '@types/express@5.0.6', 'fastify@5.12.8', '@types/node@20.19.43']
const key = 'a-session-key-of-the-examples'
const root = fileURLToPath(new URL('../../', import.meta.url))
const execute = promisify(execFile)

commandLine({
  command: 'npm run examples',
  help: 'Compiles and runs the examples of scripts/examples with the packed package; installs it outside the tree.',
})
const folder = await mkdtemp(join(tmpdir(), 'agent-server-examples-'))
let failures = 0
try {
  await install()
  for (const name of Object.keys(compilers)) await check(`compile with ${name}`, () => compile(name))
  await check('own-agent', runOwnAgent)
  await check('batch', runBatch)
  for (const name of ['express-bot', 'fastify-bot']) await check(name, () => runBot(name))
} finally {
  await rm(folder, { recursive: true, force: true })
}
print(failures === 0 ? 'All examples work.' : `${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

async function install(): Promise<void> {
  const { stdout } = await execute('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root, maxBuffer: 16 * 1024 * 1024,
  })
  const [packed] = listAt(JSON.parse(stdout))
  const aliases = Object.entries(compilers).map(([name, version]) => `${name}@npm:${version}`)
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  await cp(join(root, 'scripts/examples'), folder, { recursive: true })
  const own = join(folder, String(memberAt(packed, 'filename')))
  const quiet = ['--no-fund', '--no-audit', '--silent']
  await execute('npm', ['install', ...quiet, own, ...packages, ...aliases], { cwd: folder })
}

/** Compiles all programs with one compiler; the programs without a framework with the types of the library too. */
async function compile(compiler: string): Promise<void> {
  const options = {
    module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], strict: true, outDir: 'built',
    exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true,
    rewriteRelativeImportExtensions: true, verbatimModuleSyntax: true,
  }
  const programs = [
    { files: ['own-agent.ts', 'batch.ts', 'bot.ts'], skipLibCheck: false },
    { files: ['express-bot.ts', 'fastify-bot.ts'], skipLibCheck: true },
  ]
  for (const { files, skipLibCheck } of programs) {
    const config = { compilerOptions: { ...options, skipLibCheck }, files }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    await execute(process.execPath, [join(folder, 'node_modules', compiler, 'bin/tsc'), '-p', folder]).catch(complain)
  }
}

/** Throws with the output of a program in place of its command line. */
function complain(thrown: unknown): never {
  throw new Error(`${String(memberAt(thrown, 'stdout'))}${String(memberAt(thrown, 'stderr'))}`)
}

async function runOwnAgent(): Promise<void> {
  const { stdout } = await execute(process.execPath, ['built/own-agent.js', await ownFolder('own')], { cwd: folder })
  expect(stdout, /^apples: 3 crowns, pears: 4 crowns\n$/)
}

async function runBatch(): Promise<void> {
  const repository = await ownFolder('repository')
  await execute('git', ['init', '--quiet', repository])
  const names = ['one.md', "it's.md", 'two words.md', 'four.md', 'five.md']
  for (const name of names) await writeFile(join(repository, name), '# One\n\n## Two\n')
  await execute('git', ['-C', repository, 'add', '.'])
  const program = ['built/batch.js', repository, await ownFolder('batch')]
  const { stdout } = await execute(process.execPath, program, { cwd: folder }).catch(complain)
  for (const name of names) expect(stdout, new RegExp(`^${name}\t2$`, 'm'))
  expect(stdout, /^5 of 5 files$/m)
}

/** Asks the bot, uses the mounted interface with and without the key, opens a WebSocket, and ends the program. */
async function runBot(name: string): Promise<void> {
  const program = [`built/${name}.js`, await ownFolder(name)]
  const env = { ...process.env, SESSION_KEY: key }
  const bot = spawn(process.execPath, program, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const url = `http://127.0.0.1:${await portOf(bot)}`
    const body = JSON.stringify({ user: 'ann', question: 'run: echo hello from the bot' })
    const headers = { 'Content-Type': 'application/json' }
    const answered = await fetch(`${url}/ask`, { method: 'POST', headers, body })
    expect(await answered.text(), /exit code 0/)
    const search = `${url}/agents/api/conversations/search`
    expect(String((await fetch(search)).status), /^401$/)
    const known: unknown = await (await fetch(search, { headers: { 'X-Session-API-Key': key } })).json()
    const [conversation] = listAt(known, 'items')
    expect(JSON.stringify(memberAt(conversation, 'tags')), /"user":"ann"/)
    expect(String((await fetch(`${url}/api/conversations/search`)).status), /^404$/)
    await openSocket(`${url}/agents/sockets/events/${String(memberAt(conversation, 'id'))}`)
    const ended = once(bot, 'exit')
    bot.kill('SIGTERM')
    expect(String(await Promise.race([ended, late(20_000)])), /^0,$/)
  } finally {
    bot.kill('SIGKILL')
  }
}

async function portOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The program has no standard output')
  for await (const line of createInterface({ input: stdout })) {
    const port = /"port":(\d+)/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  throw new Error('The program ended before it listened')
}

/** Resolves when the server has answered the upgrade with 101. The socket stays open: the program must end with it. */
function openSocket(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const opening = request(url, {
      headers: {
        'X-Session-API-Key': key, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    opening.on('upgrade', () => resolve())
    opening.on('response', ({ statusCode }) => reject(new Error(`The upgrade was refused with ${statusCode}`)))
    opening.on('error', reject)
    opening.end()
  })
}

async function ownFolder(name: string): Promise<string> {
  const path = join(folder, 'folders', name)
  await mkdir(path, { recursive: true })
  return path
}

async function late(ms: number): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref())
  return `not ended after ${ms} ms`
}

function expect(text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`Expected ${pattern}, got: ${text}`)
}

async function check(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body()
    print(`ok   ${name}`)
  } catch (error) {
    failures++
    print(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
