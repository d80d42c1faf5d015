/**
 * Tries the lease of a data folder where flock(1) cannot lock: a server is stopped until another has taken the folder
 * over, gets changes from clients meanwhile, and goes on. It must write nothing any more, and end with 4.
 *
 * Both servers run in mount namespaces in which `flock` reports a file system without locks (exit code 71). Needs
 * unshare (util-linux) and the right to make such a namespace.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { member, rest } from '../../test/support/rest.ts'
import { fakeAgent } from '../../test/support/server.ts'
import { serverProgram, startBuiltServer, type BuiltServer } from './built-server.ts'

/** The time after which another server may take a folder without flock(1), and some more. */
const takeoverMs = 60_000

export interface LeaseEnd {
  /** The code with which a second server ends while the first one has the folder. */
  readonly early: unknown
  /** The files of the folder that changed after the first server went on. */
  readonly changed: readonly string[]
  /** The exit code of the first server. */
  readonly code: unknown
  /** The statuses of the requests that waited while the first server was stopped. */
  readonly statuses: readonly unknown[]
}

export async function tryLease(folder: string): Promise<LeaseEnd> {
  await mkdir(folder, { recursive: true })
  const flock = join(folder, 'flock')
  await writeFile(flock, '#!/bin/sh\nexit 71\n')
  await chmod(flock, 0o755)
  const script = 'mount --bind "$0" "$(command -v flock)" && exec "$@"'
  const wrapper = ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, flock] as const
  const start = (): Promise<BuiltServer> => startBuiltServer(folder, ['--log-level', 'warn'], {}, { wrapper })
  const first = await start()
  let second: BuiltServer | undefined
  let hasEnded = false
  void first.ended.then(() => (hasEnded = true))
  try {
    const early = await codeOfRival(folder, wrapper)
    const { post } = rest(first.url, first.key)
    const made = await Promise.all([1, 2].map(() => post('/api/conversations', { agent: fakeAgent('echo') })))
    const [kept = '', removed = ''] = made.map(({ json }) => String(member(json, 'id')))
    process.kill(first.pid, 'SIGSTOP')
    const asked = changes(first, kept, removed)
    await new Promise((resolve) => setTimeout(resolve, takeoverMs))
    second = await start()
    const before = await digests(join(folder, 'data'))
    process.kill(first.pid, 'SIGCONT')
    const statuses = await asked
    const code = await first.ended
    const after = await digests(join(folder, 'data'))
    const names = new Set([...before.keys(), ...after.keys()])
    const changed = [...names].filter((name) => name !== 'lock.heartbeat' && before.get(name) !== after.get(name))
    return { early, changed: changed.sort(), code, statuses }
  } finally {
    if (!hasEnded) process.kill(first.pid, 'SIGCONT')
    await first.stop()
    await second?.stop()
  }
}

async function codeOfRival(folder: string, [command, ...words]: readonly [string, ...string[]]): Promise<unknown> {
  const args = [...words, process.execPath, serverProgram, '--data-dir', join(folder, 'data'), '--port', '0']
  const rival = spawn(command, args, { env: { HOME: folder, PATH: process.env['PATH'] }, stdio: 'ignore' })
  const [code] = await once(rival, 'exit')
  return code
}

/** Sends changes of every kind; they wait in the sockets of a stopped server. */
function changes({ url, key }: BuiltServer, kept: string, removed: string): Promise<unknown[]> {
  const { post, put, patch, send } = rest(url, key)
  const message = { role: 'user', content: [{ type: 'text', text: 'late' }], run: true }
  return Promise.all([
    post(`/api/conversations/${kept}/events`, message),
    post('/api/conversations', { agent: fakeAgent('echo') }),
    patch(`/api/conversations/${kept}`, { title: 'late' }),
    send('DELETE', `/api/conversations/${removed}`),
    patch('/api/settings', { agent_settings_diff: { agent_kind: 'acp', acp_server: 'codex' } }),
    put('/api/settings/secrets', { name: 'LATE', value: 'a-late-value' }),
    post('/api/profiles/late', { llm: { model: 'late' } }),
  ].map((answer) => answer.then(({ status }) => status, (thrown: unknown) => String(thrown))))
}

/** The digest of each file below a folder, by its path there. */
async function digests(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.from('gone'))
    found.set(path.slice(folder.length + 1), createHash('sha256').update(bytes).digest('hex'))
  }
  return found
}
