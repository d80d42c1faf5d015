/**
 * Starts a Chromium for one conversation and ends it with all that it left.
 *
 * It has a profile of its own, which is removed afterwards, and an environment with nothing in it but where programs
 * and that profile are. It is driven over a pipe: there is no debugging port that somebody else could use. All its
 * connections go through a gate of ours, no name is resolved by it, and what it would do in the background is turned
 * off. It runs with its sandbox, except where the operator has said otherwise: then a page that breaks the renderer has
 * the rights of the server's user.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import { untilAborted, within } from '../../base/wait.ts'
import { openGate, type Gate } from '../../net/gate.ts'
import { startChild, type Child } from '../../process/child.ts'
import { gateRule } from './address.ts'
import { CdpConnection } from './connection.ts'
import { findBrowser } from './program.ts'

export interface LaunchOptions {
  /** The program; undefined looks for one in the PATH. */
  readonly program: string | undefined
  /** Of the server; PATH, language and time zone are passed on. */
  readonly env: Readonly<Record<string, string>>
  /** A folder of its own, made here and removed at the end. */
  readonly folder: string
  /** `<instance>/<id>`, see process/marker. */
  readonly marker: string
  readonly cgroupParent?: string | undefined
  readonly withoutSandbox: boolean
  /** See address.ts. */
  readonly allowed: readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface LaunchedBrowser {
  readonly connection: CdpConnection
  /** Ends it and removes its folder. Idempotent. */
  close(): Promise<void>
}

const startLimitMs = 60_000
const closeGraceMs = 3000
export const viewport = { width: 1280, height: 800 } as const

/** @throws AppError `unavailable` when there is no browser or it does not start, saying what to do */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const { folder, env, marker, cgroupParent, allowed, signal } = options
  const command = await findBrowser(options.program, env['PATH'] ?? '')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const gate = await openGate({ ruleFor: (target) => gateRule(target, allowed) })
  try {
    const args = browserArguments({ folder, gatePort: gate.port, withoutSandbox: options.withoutSandbox })
    const child = await startChild({
      command,
      args,
      cwd: folder,
      env: privateEnvironment(env, folder),
      marker,
      cgroupParent,
      extraPipes: true,
    })
    return await connect(child, gate, { ...options, command, signal })
  } catch (thrown) {
    await gate.close()
    await rm(folder, { recursive: true, force: true })
    throw thrown
  }
}

/**
 * Everything of the user's that it would look up by way of its environment is in the folder, and empty. The temporary
 * folder is the working directory, by a short name: Chromium makes a socket in it, whose path may have 107 bytes at
 * most (unix(7)).
 */
function privateEnvironment(env: Readonly<Record<string, string>>, folder: string): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => ['PATH', 'LANG', 'TZ'].includes(name) || name.startsWith('LC_'))
  return { ...Object.fromEntries(kept), HOME: folder, TMPDIR: '.' }
}

/**
 * A page from the back-forward cache would come without the events of loading; the others talk to their maker or to
 * devices.
 */
const disabledFeatures = [
  'BackForwardCache', 'AutofillServerCommunication', 'DialMediaRouteProvider', 'MediaRouter',
  'NetworkTimeServiceQuerying', 'OptimizationHints', 'Translate',
]

interface BrowserArguments {
  readonly folder: string
  readonly gatePort: number
  readonly withoutSandbox: boolean
}

function browserArguments({ folder, gatePort, withoutSandbox }: BrowserArguments): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${join(folder, 'profile')}`,
    `--proxy-server=socks5://127.0.0.1:${gatePort}`,
    // Loopback too goes through the gate, and nothing is resolved but by it.
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    // Without these a page could send UDP past the gate; the name of the switch differs between versions.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ...(withoutSandbox ? ['--no-sandbox'] : []),
    '--disable-extensions',
    '--disable-component-extensions-with-background-pages',
    '--disable-sync',
    '--disable-background-networking',
    '--disable-component-update',
    // What it would still ask of its maker goes to a name that the gate refuses.
    '--component-updater=url-source=https://none.invalid',
    '--gaia-url=https://none.invalid',
    '--disable-domain-reliability',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--password-store=basic',
    '--use-mock-keychain',
    '--deny-permission-prompts',
    `--disable-features=${disabledFeatures.join(',')}`,
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--mute-audio',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    `--window-size=${viewport.width},${viewport.height}`,
    'about:blank',
  ]
}

interface Connecting extends LaunchOptions {
  readonly command: string
}

async function connect(child: Child, gate: Gate, options: Connecting): Promise<LaunchedBrowser> {
  const { extraInput, extraOutput } = child
  if (extraInput === undefined || extraOutput === undefined) {
    throw new TypeError('A browser has to be started with two more pipes')
  }
  // What it prints there is of no use.
  child.stdout.resume()
  const connection = new CdpConnection({ input: extraOutput, output: extraInput, timeoutMs: options.timeoutMs })
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    if (!connection.isClosed) {
      connection.call('', 'Browser.close', {}, {}).catch(() => undefined)
      await within(child.exited, closeGraceMs)
    }
    connection.close()
    try {
      await child.stop({ graceMs: 0 })
    } finally {
      await gate.close()
      await rm(options.folder, { recursive: true, force: true, maxRetries: 3 })
    }
  }
  const close = (): Promise<void> => (closing ??= end())
  try {
    const answer = connection.call('', 'Browser.getVersion', {}, { timeoutMs: startLimitMs })
    await untilAborted(answer, options.signal)
    return { connection, close }
  } catch (thrown) {
    await close()
    options.signal.throwIfAborted()
    throw startFailure(options, child.stderrTail(), thrown)
  }
}

/** Chromium says why it does not start in a line with FATAL or ERROR in it. */
function startFailure({ command, withoutSandbox }: Connecting, stderr: string, cause: unknown): AppError {
  const lines = stderr.split('\n')
  const line =
    lines.find((one) => /sandbox/i.test(one)) ?? lines.find((one) => one.includes('FATAL')) ?? messageOf(cause)
  const why = line
    .replace(/^\[[^\]]*\]\s*/, '')
    .trim()
    .slice(0, 300)
  const advice = /sandbox/i.test(line) && !withoutSandbox
    ? '; run the server as a user other than root, on a kernel that lets users make namespaces, or allow a browser ' +
      'without a sandbox with --browser-no-sandbox'
    : ''
  return new AppError('unavailable', `Cannot start the browser "${command}": ${why}${advice}`, { cause })
}
