/**
 * Sends the built server requests that its OpenAPI description allows and requests that it forbids, with schemathesis
 * (PyPI): all checks, all phases. Prints the numbers of operations and cases, and ends with 1 when it finds something.
 *
 * `client/schemathesis.toml` names the rules that no JSON Schema says. The requests run commands and write files of
 * random names, so a server of root runs as the user nobody. Folder and packages are outside the tree.
 */
import { spawn } from 'node:child_process'
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { finish, printStep } from './driver.ts'
import { startBuiltServer, type BuiltServer } from './real/built-server.ts'
import { installPython } from './real/python.ts'

const version = '4.32.5'
const nobody = { uid: 65_534, gid: 65_534 }
const settings = fileURLToPath(new URL('../../scripts/client/schemathesis.toml', import.meta.url))

const { flags } = commandLine({
  command: 'node dist/scripts/client-schemathesis.js',
  help: 'Checks the built server against its OpenAPI description with schemathesis, installed outside the tree.',
  flags: {
    seed: {
      value: 'NUMBER', isRepeated: true, help: 'Seed of the requests; may be repeated, a run for each; default: 1',
    },
    examples: { value: 'NUMBER', help: 'The most requests of the fuzzing phase for an operation; default: 100' },
  },
})
const seeds = flags.seed ?? ['1']
const [examples = '100'] = flags.examples ?? []

const environment = await installPython({
  folder: `schemathesis-${version}`, requirements: [`schemathesis==${version}`],
})
let failed = 0
for (const seed of seeds) failed += await runWith(seed)
finish(failed)

/** Each run has a server of its own, since a run leaves conversations, profiles and settings behind. */
async function runWith(seed: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'client-schemathesis-'))
  const work = join(folder, 'work')
  await mkdir(work)
  const identity = process.getuid?.() === 0 ? nobody : undefined
  if (identity !== undefined) for (const path of [folder, work]) await chown(path, identity.uid, identity.gid)
  const server = await startBuiltServer(folder, ['--workspace-dir', work], {}, identity)
  try {
    const code = await check(server, seed, folder)
    return printStep({ name: `nothing is found with the seed ${seed}`, ok: code === 0, seen: `exit code ${code}` })
  } finally {
    const code = await server.stop()
    failed += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
    await rm(folder, { recursive: true, force: true })
  }
}

function check({ url, key }: BuiltServer, seed: string, cwd: string): Promise<number | null> {
  const args = [
    '--config-file', settings, 'run', `${url}/openapi.json`, '--header', `X-Session-API-Key: ${key}`,
    '--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', examples,
    '--seed', seed, '--continue-on-failure', '--request-timeout', '20', '--generation-database', 'none', '--no-color',
  ]
  return new Promise((resolve, reject) => {
    const program = join(environment, 'bin', 'schemathesis')
    spawn(program, args, { cwd, stdio: 'inherit' }).once('error', reject).once('exit', resolve)
  })
}
