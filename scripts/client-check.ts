/**
 * `npm run client:check`: drives the built server with a published client, and says where the two disagree.
 *
 * The client is `@openhands/typescript-client`, written by others against the public server; it is installed outside
 * the tree and used as it is (client/driver.mjs). Prints a table of its calls and ends with 1 when one failed.
 */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installPackages } from './real/agent-package.ts'
import { startBuiltServer } from './real/built-server.ts'
import { memberAt } from './real/member.ts'
import { startOAuth } from '../test/fixtures/oauth-server.ts'

const timeoutMs = 300_000
const packages = ['@openhands/typescript-client@1.39.0', 'ws@8.18.3']
// Not compiled: it stands beside the source of this file, wherever that runs.
const driver = fileURLToPath(new URL('../../scripts/client/driver.mjs', import.meta.url))

const client = await installPackages('typescript-client-1.39.0', packages)
const folder = await mkdtemp(join(tmpdir(), 'client-check-'))
const workspaces = join(folder, 'workspaces')
await mkdir(workspaces)
const server = await startBuiltServer(folder, [])
const protectedServer = await startOAuth()
let failed = 0
try {
  failed = await drive([client, server.url, server.key, workspaces, protectedServer.mcp.url])
} finally {
  const code = await server.stop()
  failed += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
  await protectedServer.close()
  await rm(folder, { recursive: true, force: true })
}
process.stdout.write(failed === 0 ? 'every step held\n' : `${failed} steps failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs the driver and prints its steps as they come; gives the number that failed. */
async function drive(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [driver, ...args], { stdio: ['ignore', 'pipe', 'inherit'], timeout: timeoutMs })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  let failures = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const found: unknown = JSON.parse(line)
    const [name, seen] = [memberAt(found, 'name'), memberAt(found, 'seen')].map(String)
    failures += printStep({ name: name ?? line, ok: memberAt(found, 'ok') === true, seen: seen ?? '' })
  }
  const code = await exited
  return failures + printStep({ name: 'the client reaches the end', ok: code === 0, seen: String(code) })
}

interface Step {
  readonly name: string
  readonly ok: boolean
  readonly seen: string
}

/** Gives 1 for a failure. */
function printStep({ name, ok, seen }: Step): number {
  process.stdout.write(`  ${ok ? 'ok  ' : 'FAIL'} ${name}${ok ? '' : `\n       ${seen.slice(0, 1_000)}`}\n`)
  return ok ? 0 : 1
}
