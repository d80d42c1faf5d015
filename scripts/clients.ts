/**
 * `npm run clients`: drives the built server with each published client: the TypeScript client, the Python client and
 * the web page, clients that generators make of the OpenAPI description, and schemathesis, which sends requests that
 * the description allows and requests that it forbids. Prints a table of steps for each, and ends with 1 when a step
 * failed.
 *
 * Each client is a program of this folder, which also runs alone. All of them are installed outside the tree.
 */
import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, refuse } from './command-line.ts'

const clients = ['typescript', 'python', 'generated', 'schemathesis', 'gui'] as const
type Client = (typeof clients)[number]

const { flags } = commandLine({
  command: 'npm run clients',
  help: `Drives the built server with the published clients and prints a table of steps for each. They come from npm and
PyPI and stay in AGENT_SERVER_REAL_AGENTS, or in a temporary folder. The Python client needs Python 3.12 or newer
(AGENT_SERVER_REAL_PYTHON names one), the page a Chromium in the PATH.`,
  flags: {
    only: { value: 'CLIENT', help: `${clients.join(', ')}; default: all of them` },
    seed: {
      value: 'NUMBER', isRepeated: true, help: 'Seed of schemathesis; may be repeated, a run for each; default: 1',
    },
    pictures: { value: 'FOLDER', help: 'Pictures of the page; default: a new temporary folder, whose path is printed' },
  },
})
const [only] = flags.only ?? []
await runAll()

async function runAll(): Promise<void> {
  const chosen = clients.filter((one) => only === undefined || one === only)
  if (chosen.length === 0) refuse(`There is no client "${only}": it is one of ${clients.join(', ')}`)
  const results: string[] = []
  for (const client of chosen) {
    process.stdout.write(`${client}\n`)
    const code = await run(...(await programOf(client)))
    results.push(`  ${client.padEnd(14)}${code === 0 ? 'every step held' : `failed (${code ?? 'ended by a signal'})`}\n`)
    if (code !== 0) process.exitCode = 1
  }
  process.stdout.write(`\n${results.join('')}`)
}

async function programOf(client: Client): Promise<[program: string, ...args: string[]]> {
  switch (client) {
    case 'typescript': return ['client-check.js']
    case 'python': return ['client-python.js']
    case 'generated': return ['client-generated.js']
    case 'schemathesis': return ['client-schemathesis.js', ...(flags.seed ?? []).flatMap((seed) => ['--seed', seed])]
    case 'gui': {
      const pictures = flags.pictures?.[0] ?? (await mkdtemp(join(tmpdir(), 'gui-pictures-')))
      process.stdout.write(`pictures in ${pictures}\n`)
      return ['gui.js', pictures]
    }
  }
}

function run(program: string, ...args: readonly string[]): Promise<number | null> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  return new Promise((resolve, reject) => {
    spawn(process.execPath, [path, ...args], { stdio: 'inherit' }).once('error', reject).once('exit', resolve)
  })
}
