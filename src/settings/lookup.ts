/**
 * Resolves the secrets of a conversation to values.
 *
 * A lookup at this server's `/api/settings/secrets/NAME` gets the global secret without a request (decisions 23). Other
 * addresses of this server are refused. `fetchText` fetches from other servers. A failure affects no other lookup.
 */
import { AppError, errorOf } from '../base/errors.ts'
import type { LookupSecret, SecretSource } from '../schema/generated/secrets.ts'

const defaultTimeoutMs = 30_000
const defaultLimitBytes = 65_536

export interface LookupRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly limitBytes: number
  readonly signal: AbortSignal
}

export interface ResolveSecretsOptions {
  /** Addresses of this server. A relative address of a lookup is resolved against the first. */
  readonly serverUrls: readonly string[]
  /** Returns the value of a global secret. @throws AppError for an unknown name */
  readonly globalSecret: (name: string) => Promise<string>
  /** Fetches the body of a GET. @throws AppError whose message contains no secret. */
  readonly fetchText: (request: LookupRequest) => Promise<string>
  readonly signal: AbortSignal
  readonly timeoutMs?: number
  readonly limitBytes?: number
}

export interface ResolvedSecrets {
  /**
   * The value of each secret, by the secret's name. A secret without a value, or with a failed lookup, is left out. The
   * caller must register the values with the masker before use.
   */
  readonly values: ReadonlyMap<string, string>
  readonly failures: readonly LookupFailure[]
}

export interface LookupFailure {
  readonly name: string
  readonly reason: string
  /** The error if it is not an AppError, for the log. */
  readonly error?: Error
}

/** Resolves all sources and lists the failures. @throws the reason of `signal` if a lookup fails after its abort */
export async function resolveSecrets(
  sources: ReadonlyMap<string, SecretSource>,
  options: ResolveSecretsOptions,
): Promise<ResolvedSecrets> {
  const values = new Map<string, string>()
  const failures: LookupFailure[] = []
  const resolveOne = async ([name, source]: readonly [string, SecretSource]): Promise<void> => {
    try {
      const value = source.kind === 'StaticSecret' ? (source.value ?? '') : await lookUp(source, options)
      if (value !== '') values.set(name, value)
    } catch (error) {
      options.signal.throwIfAborted()
      failures.push(
        error instanceof AppError
          ? { name, reason: error.message }
          : { name, reason: 'The lookup failed', error: errorOf(error) },
      )
    }
  }
  await Promise.all([...sources].map(resolveOne))
  return { values, failures }
}

async function lookUp(source: LookupSecret, options: ResolveSecretsOptions): Promise<string> {
  const { serverUrls, timeoutMs = defaultTimeoutMs, limitBytes = defaultLimitBytes, signal } = options
  const { url, headers } = source
  const target = parseUrl(url, serverUrls[0] ?? noServer)
  if (isOwn(target, serverUrls)) return options.globalSecret(ownSecretName(target))
  return options.fetchText({ url: target.href, headers, timeoutMs, limitBytes, signal })
}

/** The base of relative addresses while the server does not listen. The name never resolves (RFC 6761, section 6.4). */
const noServer = 'http://agent-server.invalid'

function parseUrl(url: string, base: string): URL {
  if (URL.canParse(url, base)) return new URL(url, base)
  throw new AppError('bad_request', 'Cannot look up the secret: expected an http or https address')
}

function isOwn(target: URL, serverUrls: readonly string[]): boolean {
  return [...serverUrls, noServer].some((url) => new URL(url).origin === target.origin)
}

/** Returns the NAME in `.../api/settings/secrets/NAME`. @throws AppError `bad_request` for any other address */
function ownSecretName(target: URL): string {
  const name = /\/api\/settings\/secrets\/([A-Za-z0-9_]+)$/.exec(target.pathname)?.[1]
  if (name !== undefined) return name
  throw new AppError('bad_request', `Cannot look up the secret: expected "/api/settings/secrets/NAME" on this server`)
}
