/**
 * Fetches one commit of a git repository and yields its files in the form of an archive's entries.
 *
 * The commit is not checked out: `git archive` writes it as tar. The configuration of the user and the system is not
 * read.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { untilAborted, within } from '../../base/wait.ts'
import type { Core } from '../../capabilities.ts'
import { startChild, type Child } from '../../process/child.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { collectOutput } from '../../process/output.ts'
import { unpackedLimitBytes, type Entry } from './archive/entry.ts'
import { readTar } from './archive/tar.ts'
import type { GitSource } from './source.ts'

const packLimitBytes = 256 * 1024 * 1024
/** The time limit of one run of git, in milliseconds. `git archive` has it for its output and again for its exit. */
const timeoutMs = 60_000
/** The most bytes of output that `runOnce` keeps. */
const outputLimitBytes = 64 * 1024
/** The unit of `ulimit -f`, in bytes (POSIX, "ulimit"). */
const ulimitUnit = 512
const fetched = 'refs/fetched/it'

const settings: readonly string[] = [
  'core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.attributesFile=/dev/null', 'core.askPass=',
  'credential.helper=', 'fetch.fsckObjects=true', 'fetch.unpackLimit=1', 'fetch.recurseSubmodules=false',
  'submodule.recurse=false', 'gc.auto=0', 'maintenance.auto=false', 'http.followRedirects=initial',
]

const variables: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_ALLOW_PROTOCOL: 'https:file',
  GIT_NO_LAZY_FETCH: '1',
  LC_ALL: 'C',
}

export type GitSourceOptions = Pick<Core, 'environment' | 'instanceId' | 'cgroupParent'>

export interface FetchedCommit {
  readonly commit: string
  readonly entries: AsyncGenerator<Entry, void>
}

/**
 * Fetches the commit of a source.
 * @param folder a folder in which git makes the folder `repository`; the caller removes it after reading the entries
 * @throws AppError `bad_request` when git fails or takes too long; the signal's reason
 */
export async function fetchCommit(
  source: GitSource, folder: string, { signal, ...options }: GitSourceOptions & { readonly signal: AbortSignal },
): Promise<FetchedCommit> {
  const repository = join(folder, 'repository')
  const run = (...args: readonly string[]): Promise<string> => runOnce({ ...options, signal, folder, args })
  await run('init', '--quiet', '--bare', '--template=', repository)
  const place = `--git-dir=${repository}`
  const mapping = `${source.ref}:${fetched}`
  await run(place, 'fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', source.url, mapping)
  const commit = (await run(place, 'rev-parse', '--verify', '--quiet', `${fetched}^{commit}`)).trim()
  const tree = `${commit}:${source.below}`
  return { commit, entries: archived({ ...options, signal, folder, args: [place, 'archive', '--format=tar', tree] }) }
}

interface GitCall extends GitSourceOptions {
  readonly folder: string
  readonly args: readonly string[]
  readonly signal: AbortSignal
}

async function* archived(call: GitCall): AsyncGenerator<Entry, void> {
  const child = await start(call)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(failed(`it did not end within ${timeoutMs} ms`)), timeoutMs)
  const stop = (): void => { child.stdout.destroy() }
  late.signal.addEventListener('abort', stop)
  call.signal.addEventListener('abort', stop)
  try {
    yield* readTar(piecesOf(child), unpackedLimitBytes)
    await expectSuccess(child, call)
  } catch (thrown) {
    call.signal.throwIfAborted()
    late.signal.throwIfAborted()
    // A git that fails ends the tar stream early, so `readTar` throws. Then `expectSuccess` throws git's own reason.
    if (thrown instanceof AppError) await expectSuccess(child, call)
    throw thrown
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', stop)
    await child.stop({ signal: atOnce })
  }
}

const atOnce = AbortSignal.abort()

async function* piecesOf({ stdout }: Child): AsyncGenerator<Buffer, void> {
  for await (const piece of stdout) if (Buffer.isBuffer(piece)) yield piece
}

async function expectSuccess(child: Child, { signal }: GitCall): Promise<void> {
  child.stdout.resume()
  const end = await within(untilAborted(child.exited, signal), timeoutMs)
  if (end === 'late') throw failed(`it did not end within ${timeoutMs} ms`)
  if (end.code !== 0) throw failed(reasonOf(child, end.code))
}

/** Runs git to its end and returns its output. @throws AppError `bad_request`; the signal's reason */
async function runOnce(call: GitCall): Promise<string> {
  call.signal.throwIfAborted()
  const child = await start(call)
  try {
    const output = collectOutput(child.stdout, outputLimitBytes)
    const end = await within(untilAborted(Promise.all([child.exited, output.ended]), call.signal), timeoutMs)
    if (end === 'late') throw failed(`it did not end within ${timeoutMs} ms`)
    const [{ code }] = end
    if (code !== 0) throw failed(reasonOf(child, code))
    return output.bytes().toString()
  } finally {
    await child.stop({ signal: atOnce })
  }
}

/** Starts git with a limit on the size of each file that git writes. */
async function start({ environment, instanceId, cgroupParent, folder, args }: GitCall): Promise<Child> {
  const git = ['git', '--no-pager', ...settings.flatMap((setting) => ['-c', setting]), ...args]
  const child = await startChild({
    command: 'sh',
    args: ['-c', 'ulimit -f "$0" && exec "$@"', String(packLimitBytes / ulimitUnit), ...git],
    cwd: folder,
    env: buildEnvironment({ server: environment, own: { ...variables, ...certificates(environment) } }),
    marker: `${instanceId}/git-${randomUUID()}`,
    cgroupParent,
  }).catch((cause: unknown) => Promise.reject(failed('it cannot be started', cause)))
  child.stdin.end()
  return child
}

/** Returns `GIT_SSL_CAINFO` with the file of trusted certificates that the server's environment names; {} if none. */
function certificates({ GIT_SSL_CAINFO, SSL_CERT_FILE }: GitSourceOptions['environment']): Record<string, string> {
  const file = GIT_SSL_CAINFO ?? SSL_CERT_FILE
  return file === undefined ? {} : { GIT_SSL_CAINFO: file }
}

/** Returns why git failed: a signal, its last `fatal:` line, or its exit code. */
function reasonOf(child: Child, code: number | null): string {
  if (code === null) return 'it was ended by a signal: the repository may be too large'
  const lines = child.stderrTail().split('\n').filter((line) => line.startsWith('fatal: '))
  const line = lines.at(-1)?.slice('fatal: '.length).replace(/\p{C}/gu, '?').slice(0, 300)
  return line ?? `it failed with exit code ${code}`
}

function failed(why: string, cause?: unknown): AppError {
  return new AppError('bad_request', `Cannot fetch the source with git: ${why}`, { cause })
}
