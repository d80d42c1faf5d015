/**
 * The table of all options of the core, for the command line, the environment, the configuration file and the library.
 *
 * `createConfig` returns a checked and frozen `Config`. It refuses unsafe combinations, such as a server that other
 * machines can reach without a key.
 */
import { relative, sep } from 'node:path'
import { AppError } from './base/errors.ts'
import { usualValueLimit } from './base/json.ts'
import { logLevels } from './base/log.ts'
import { isLoopbackName, parseAuthority } from './http/origin.ts'
import { bytes, commands, count, integer, list, milliseconds, oneOf, optionalPath, optionalText } from './option.ts'
import {
  path, readToggle, text, toggle, type Option, type OptionTable, type OptionValues, type OtherValue, type ReadOthers,
} from './option.ts'

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

/** The least length of a session key when other machines can reach the server. */
export const publicKeyChars = 16

export const optionTable = {
  host: text({
    group: 'Network',
    help: 'Address to listen on; other machines can reach the server unless it is a loopback address',
    placeholder: 'ADDRESS',
    initial: '127.0.0.1',
    expected: 'an IP address or a host name',
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$|^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$/,
  }),
  port: integer({
    group: 'Network',
    help: 'Port to listen on; 0 takes any free port',
    initial: 8000,
    min: 0,
    max: 65_535,
  }),
  allowedHosts: list({
    group: 'Network',
    help: 'Name by which clients may address the server, besides IP addresses and loopback names',
    flag: 'allowed-host',
    placeholder: 'NAME',
    expected: 'a host name without a port',
    accepts: (item) => parseAuthority(item) !== undefined && !item.includes(':'),
  }),
  allowedOrigins: list({
    group: 'Network',
    help: 'Origin whose pages may use the server; with a session key loopback origins are allowed anyway',
    flag: 'allowed-origin',
    placeholder: 'ORIGIN',
    expected: 'an origin such as https://example.org, without a path',
    accepts: (item) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]+$/i.test(item),
  }),
  basePath: text({
    group: 'Network',
    help: 'Path below which the server answers, where a proxy or an embedding program passes paths on unchanged',
    placeholder: 'PATH',
    initial: '',
    expected: 'a path such as /agents, without a slash at the end',
    pattern: /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/,
  }),
  publicUrl: optionalText({
    group: 'Network',
    help: "Address under which users' browsers reach the server, for sign-ins to MCP servers; default: loopback",
    placeholder: 'URL',
    expected: 'an address such as https://agents.example.org, https unless the host is a loopback, without a query',
    pattern: /^(?:https:\/\/[^\s/?#@]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?:\/[^\s?#]*)?$/,
  }),
  shard: optionalText({
    group: 'Network',
    help: 'First byte of the id of each new conversation, by which a proxy finds its server among several',
    placeholder: 'BYTE',
    expected: 'two hexadecimal digits in lower case, 00 to ff',
    pattern: /^[0-9a-f]{2}$/,
  }),
  noCompression: toggle({ group: 'Network', help: 'Do not compress WebSocket messages, even if a client asks for it' }),
  sessionApiKeys: list({
    group: 'Access',
    help: 'Key that clients must send; prefer a file, since other users can see command lines',
    flag: 'session-api-key',
    placeholder: 'KEY',
    isSecret: true,
    expected: '1 to 256 visible ASCII characters',
    accepts: (item) => /^(?! )[\x20-\x7e]{1,256}(?<! )$/.test(item),
    readOthers: readOtherKeys,
  }),
  noAuth: toggle({
    group: 'Access',
    help: 'Ask for no key; only with a loopback host. Web pages then need --allowed-origin, local pages too',
  }),
  deferredInit: toggle({
    group: 'Access',
    help: 'Answer 503 until POST /api/init, which delivers session keys. If there is a secret key, it must send it',
    readOthers: ({ OH_DEFERRED_INIT: word }) => {
      return word ? { value: readToggle(word), source: 'OH_DEFERRED_INIT' } : undefined
    },
  }),
  secretKey: optionalText({
    group: 'Access',
    help: 'Key that seals stored secrets; default: a key that the server creates in the data folder',
    placeholder: 'KEY',
    isSecret: true,
    expected: 'at least 16 characters',
    pattern: /^[^\0\r\n]{16,}$/,
    readOthers: ({ OH_SECRET_KEY: value }) => (value ? { value, source: 'OH_SECRET_KEY' } : undefined),
  }),
  oldSecretKeys: list({
    group: 'Access',
    help: 'Earlier sealing key; it only opens stored secrets',
    flag: 'old-secret-key',
    placeholder: 'KEY',
    isSecret: true,
    expected: 'at least 16 characters',
    accepts: (item) => /^[^\0\r\n]{16,}$/.test(item),
  }),
  dataDir: path({ group: 'Folders', help: 'Folder for conversations, settings and secrets' }),
  workspaceDir: path({ group: 'Folders', help: 'Folder for the workspaces of conversations that name none' }),
  acpCommands: commands({ group: 'Agents', help: 'Command that starts the agent of a provider', flag: 'acp-command' }),
  providersFile: optionalPath({
    group: 'Agents',
    help: 'JSON file that adds or replaces providers',
    flag: 'providers',
  }),
  allowNpx: toggle({
    group: 'Agents',
    help: 'Start the agent of a preset with npx, which downloads it, if it is not installed',
  }),
  passEnv: list({
    group: 'Agents',
    help: "Variable of the server's environment that agents also get",
    flag: 'pass-env',
    placeholder: 'NAME',
    expected: 'the name of an environment variable',
    accepts: (item) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(item),
  }),
  agentLimit: count(16, 'Agents', 'Agents that run at the same time; further agents wait'),
  agentIdleMs: milliseconds(20 * minute, 'Agents', 'Stop an idle agent after this time'),
  confirmationDeadlineMs: milliseconds(15 * minute, 'Agents', 'Deny a pending confirmation after this time'),
  parts: list({
    group: 'Agents',
    help: 'Part that may be loaded, by its name in /server_info; default: all parts; "none": no part',
    flag: 'parts',
    placeholder: 'NAME',
    expected: 'the name of a part, or none',
    accepts: (item) => /^[a-z][a-z-]*$/.test(item),
  }),
  connectionLimit: count(12_000, 'Limits', 'Open connections; at the limit, the oldest without a key is closed'),
  subscriberLimit: count(1024, 'Limits', 'Readers of one conversation'),
  urlLimitBytes: bytes(16 * KiB, 'Target of a request'),
  headerLimitBytes: bytes(32 * KiB, 'Request line and headers of a request'),
  bodyLimitBytes: bytes(16 * MiB, 'Body of a request'),
  messageLimitBytes: bytes(16 * MiB, 'Message on a WebSocket'),
  eventLimitBytes: bytes(32 * MiB, 'Event in a conversation'),
  jsonValueLimit: count(usualValueLimit, 'Limits', 'Values in one JSON text from outside, names of members included'),
  agentLineLimitBytes: bytes(16 * MiB, 'Line that an agent writes'),
  transcriptLimitBytes: bytes(64 * KiB, 'Transcript of a conversation for an agent that lost its session'),
  cacheBytes: bytes(64 * MiB, 'Newest events kept in memory, of all conversations'),
  logCacheBytes: bytes(MiB, 'Newest events kept in memory, of one conversation'),
  headersTimeoutMs: milliseconds(30 * second, 'Limits', 'Time for the headers of a request'),
  bodyTimeoutMs: milliseconds(60 * second, 'Limits', 'Time for the body of a request, unless it uploads a file'),
  uploadTimeoutMs: milliseconds(60 * minute, 'Limits', 'Time for the body of a request that uploads a file'),
  // Most proxies keep an idle connection for 60 s. If this server closed it earlier, the proxy could answer 502.
  keepAliveTimeoutMs: milliseconds(75 * second, 'Limits', 'Time that a connection stays open between requests'),
  authTimeoutMs: milliseconds(10 * second, 'Limits', 'Time for the WebSocket message that carries the key'),
  readerStallMs: milliseconds(60 * second, 'Limits', 'Disconnect a reader that takes nothing for this time'),
  drainSeconds: integer({
    group: 'Limits',
    help: 'Time after SIGTERM in which runs may finish, while new work is refused; then they are paused',
    placeholder: 'SECONDS',
    initial: 5,
    min: 0,
    max: 86_400,
  }),
  shutdownGraceMs: milliseconds(10 * second, 'Limits', 'Time to pause conversations and finish requests at shutdown'),
  slowRequestMs: milliseconds(5 * second, 'Log', 'Log a request that takes at least this time'),
  logLevel: oneOf(logLevels, 'info', { group: 'Log', help: 'Lowest level that is written to the log' }),
  logFile: optionalPath({ group: 'Log', help: 'File for the log instead of standard error; SIGHUP opens it again' }),
}

export type OptionName = keyof typeof optionTable

export type Config = OptionValues<typeof optionTable>

/** The options with the keys that seal (encrypt) stored secrets. */
export type SealingKeyOptions = Pick<Config, 'secretKey' | 'oldSecretKeys'>

/** All options of the core, except the session keys and the sealing keys. */
export type KeylessConfig = Omit<Config, 'sessionApiKeys' | keyof SealingKeyOptions>

/** The options that a program passes: `dataDir`, `workspaceDir`, and any other options. */
export type ConfigInput = Partial<Config> & Pick<Config, 'dataDir' | 'workspaceDir'>

/**
 * Checks a configuration, and adds the defaults.
 * @param more the options of the parts; the result has their values too
 * @throws AppError `invalid_option`
 */
export function createConfig(input: ConfigInput, more: OptionTable = {}): Config {
  const table = { ...more, ...optionTable }
  const given: Readonly<Record<string, unknown>> = input
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(table, name)) throw unusable(`the option "${name}": there is no such option`)
  }
  const config: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(table)) config[name] = frozenCopy(given[name] ?? option.initial)
  assertConfig(config, table)
  assertSafe(config)
  return Object.freeze(config)
}

export interface SeparateKeys {
  readonly keyless: KeylessConfig
  readonly sessionApiKeys: readonly string[]
  readonly sealingKeyOptions: SealingKeyOptions
}

/** Returns a configuration in three values: the options without keys, the session keys and the sealing keys. */
export function separateKeys({ sessionApiKeys, secretKey, oldSecretKeys, ...keyless }: Config): SeparateKeys {
  const sealingKeyOptions = Object.freeze({ secretKey, oldSecretKeys })
  return { keyless: Object.freeze(keyless), sessionApiKeys, sealingKeyOptions }
}

/**
 * Returns the error for a wrong value. `source` is the name of the flag, variable or member that has the value. The
 * error never shows a secret.
 */
export function invalidOption(option: Option<unknown>, source: string, value: unknown): AppError {
  const isList = option.kind === 'list' && Array.isArray(value)
  const wrong: unknown = isList ? value.find((item) => !option.accepts([item])) : value
  const shown = option.isSecret || wrong === undefined ? '' : ` ${JSON.stringify(wrong)}`
  const expected = option.kind === 'list' && !isList ? `a list, each item ${option.expected}` : option.expected
  return new AppError('invalid_option', `Could not use ${source}${shown}: expected ${expected}`)
}

function assertConfig(values: Record<string, unknown>, table: OptionTable): asserts values is Config {
  for (const [name, option] of Object.entries<Option<unknown>>(table)) {
    if (!option.accepts(values[name])) throw invalidOption(option, name, values[name])
  }
}

/** Checks combinations of options (decisions 20 and 32), and that `publicUrl` is a URL. */
function assertSafe(config: Config): void {
  const { host, publicUrl, noAuth, sessionApiKeys, dataDir, workspaceDir } = config
  const isAddress = publicUrl === undefined || URL.canParse(publicUrl)
  if (!isAddress) throw invalidOption(optionTable.publicUrl, 'publicUrl', publicUrl)
  if (noAuth && sessionApiKeys.length > 0) throw unusable('noAuth with session keys, expected only one of the two')
  assertInit(config)
  if (!isLoopbackName(host)) {
    const reach = `host "${host}": other machines can reach it`
    if (noAuth) throw unusable(`noAuth with ${reach}, expected a loopback address such as 127.0.0.1`)
    const expected = 'expected a session key (--session-api-key-file, sessionApiKeys) or a loopback address'
    if (sessionApiKeys.length === 0) throw unusable(`${reach}, ${expected}`)
    const isShort = sessionApiKeys.some((key) => key.length < publicKeyChars)
    if (isShort) throw unusable(`a session key with ${reach}, expected keys of at least ${publicKeyChars} characters`)
  }
  if (holds(dataDir, workspaceDir) || holds(workspaceDir, dataDir)) {
    throw unusable(`workspaceDir "${workspaceDir}": expected a folder neither inside nor above dataDir "${dataDir}"`)
  }
}

/** Checks the options that go with `deferredInit`. The secret key must fit in a header of `POST /api/init`. */
function assertInit({ deferredInit, noAuth, secretKey, host }: Config): void {
  if (!deferredInit) return
  if (noAuth) throw unusable('noAuth with deferredInit, expected only one of the two')
  if (secretKey === undefined) {
    if (isLoopbackName(host)) return
    throw unusable(`deferredInit with host "${host}": anybody could initialize the server, expected a secret key`)
  }
  if (optionTable.sessionApiKeys.accepts([secretKey])) return
  throw unusable('deferredInit with a secret key that no header carries, expected 16 to 256 visible ASCII characters')
}

/** Reads the session keys from `SESSION_API_KEY`, and from `OH_SESSION_API_KEYS_0`, `_1`, ... up to a gap. */
function readOtherKeys(environment: Parameters<ReadOthers>[0]): OtherValue | undefined {
  const keys = environment['SESSION_API_KEY'] ? [environment['SESSION_API_KEY']] : []
  for (let index = 0; ; index++) {
    const name = `OH_SESSION_API_KEYS_${index}`
    const key = environment[name]
    if (!key) break
    keys.push(key)
  }
  return keys.length === 0 ? undefined : { value: keys, source: 'SESSION_API_KEY or OH_SESSION_API_KEYS_*' }
}

function unusable(what: string): AppError {
  return new AppError('invalid_option', `Could not use ${what}`)
}

/** Returns true when the inner path is the outer path or lies in it. */
function holds(outer: string, inner: string): boolean {
  const way = relative(outer, inner)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy))
  if (typeof value !== 'object' || value === null) return value
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy(item)])))
}
