/**
 * Starts and ends a Chromium for one conversation, and removes its files.
 *
 * The browser has its own profile, few environment variables, and a gate to the network (gate.ts). It is driven over a
 * pipe, so no debugging port is open to other programs.
 */
import { join } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import { failsAsStorage, makeFolder, privateFolder, removeTree } from '../../base/own-files.ts'
import { untilAborted, within } from '../../base/wait.ts'
import { openGate, type Gate } from './gate.ts'
import { startChild, type Child } from '../../process/child.ts'
import { gateRule } from './address.ts'
import { CdpConnection } from './connection.ts'
import { findBrowser } from './program.ts'

export interface LaunchOptions {
  /** The path of the browser program. If undefined, the PATH is searched. */
  readonly program: string | undefined
  /** Environment variables, of which the browser gets PATH, language and time zone. */
  readonly env: Readonly<Record<string, string>>
  /** The folder for the files of this browser: created at its start, removed at its end. */
  readonly folder: string
  /** The environment variable that marks the browser's processes has this value: `<instance>/<browser id>`. */
  readonly marker: string
  readonly cgroupParent?: string | undefined
  readonly withoutSandbox: boolean
  /** The operator's allow list of addresses on this machine (`--browser-allow`), see address.ts. */
  readonly allowed: readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface LaunchedBrowser {
  readonly connection: CdpConnection
  /** Ends the browser and removes its folder. Idempotent. */
  close(): Promise<void>
}

const startLimitMs = 60_000
const closeGraceMs = 3000
export const viewport = { width: 1280, height: 800 } as const

/**
 * Starts a browser.
 * @throws AppError `unavailable`, `agent_failed`, `cannot_listen`, `storage_full`, `storage_failed`; the signal's
 * reason
 */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const { folder, env, marker, cgroupParent, allowed, signal } = options
  const command = await findBrowser(options.program, env['PATH'] ?? '')
  await failsAsStorage('Cannot make the folder of the browser', () => makeFolder(folder, privateFolder))
  let gate: Gate | undefined
  try {
    gate = await openGate({ ruleFor: (target) => gateRule(target, allowed) })
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
    await gate?.close()
    await removeTree(folder)
    throw thrown
  }
}

/**
 * Returns PATH, language and time zone of `env`, with the browser's own folder as HOME. TMPDIR is the short path `.`,
 * because Chromium creates a Unix socket there, whose path has at most 107 bytes (unix(7)).
 */
function privateEnvironment(env: Readonly<Record<string, string>>, folder: string): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => ['PATH', 'LANG', 'TZ'].includes(name) || name.startsWith('LC_'))
  return { ...Object.fromEntries(kept), HOME: folder, TMPDIR: '.' }
}

/** The features of Chromium that are switched off. With BackForwardCache, going back would fire no load events. */
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
    // These two options send connections to loopback through the gate too, and leave the DNS lookups to the gate.
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    // Two names of one switch, for different versions of Chromium: it keeps WebRTC from sending UDP past the gate.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ...(withoutSandbox ? ['--no-sandbox'] : []),
    '--disable-extensions',
    '--disable-component-extensions-with-background-pages',
    '--disable-sync',
    '--disable-background-networking',
    '--disable-component-update',
    // These two options replace addresses of Google with a host name that the gate refuses.
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
  // Discard the output: Chromium would block on a full pipe.
  child.stdout.resume()
  const connection = new CdpConnection({ input: extraOutput, output: extraInput, timeoutMs: options.timeoutMs })
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    if (!connection.isClosed) {
      connection.call('', 'Browser.close', {}, {}).catch(() => undefined) // `child.stop` ends the process in any case.
      await within(child.exited, closeGraceMs)
    }
    connection.close()
    try {
      await child.stop({ graceMs: 0 })
    } finally {
      await gate.close()
      await removeTree(options.folder)
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

/**
 * Returns the error for a browser that did not start. Quotes the first line of stderr that mentions the sandbox, else
 * the first line with FATAL, else the message of `cause`.
 */
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
