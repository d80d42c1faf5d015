/**
 * The file of logins to MCP servers. Each login is encrypted and bound to the name and address of its server.
 *
 * Before a caller gets a login, its secrets are registered with the masker, which hides them in texts.
 */
import { isObject, parseJson } from '../../../base/json.ts'
import type { Cipher } from '../../../settings/cipher.ts'
import { createMaskedValues, type MaskedValues } from '../../../settings/masked-values.ts'
import type { OpenSealedFile } from '../../../settings/sealed-file.ts'
import type { TellChange } from '../../../settings/change-log.ts'
import { createStoredFile, type StoredFile } from '../../../settings/stored-file.ts'
import { numberOf, textOf } from '../../../base/fields.ts'
import { loginOf, stateOf, type Login } from './login.ts'

export interface LoginServer {
  readonly name: string
  readonly url: string
}

export interface KeptLogin {
  /** The login; undefined when it has ended. */
  readonly login: Login | undefined
  /** The time when the login was obtained, or when a token was refused after that, in milliseconds since the epoch. */
  readonly since: number
  /** The last access token that was refused; undefined if there is none. */
  readonly refused: string | undefined
}

export type KeptLogins = ReadonlyMap<string, KeptLogin>

export interface LoginFileOptions {
  readonly path: string
  readonly cipher: Cipher
  readonly setMasked: MaskedValues
  /** Called after every change, with the logins before and after the change, grouped by server name. */
  readonly onChange?: TellChange | undefined
}

const version = 1
/** The most logins in the file. A further login replaces the login with the oldest change. */
const loginLimit = 1000

/** Returns the map key of a server's login. A stored login can be decrypted only under its own map key. */
export function keyOf({ name, url }: LoginServer): string {
  return JSON.stringify([name, url])
}

/** Opens the file of logins for code that treats all sealed files alike, such as `sealing-keys reseal`. */
export const openSealedLogins: OpenSealedFile = ({ path, cipher, masker, onChange }) =>
  openLoginFile({ path, cipher, setMasked: createMaskedValues(masker), onChange })

export function openLoginFile({ path, cipher, setMasked, onChange }: LoginFileOptions): StoredFile<KeptLogins> {
  const mask = (key: string, login: Login): void => setMasked(nameOf(key), secretsOf(login))
  const file = createStoredFile<KeptLogins>({
    onChange: (before, after) => onChange?.(byServer(before), byServer(after)),
    path,
    version,
    keyIds: cipher.keyIds,
    initial: () => new Map(),
    encode: (logins) => ({
      logins: Object.fromEntries([...logins].map(([key, kept]) => [key, cipher.seal(encode(kept), contextOf(key))])),
    }),
    decode({ logins }) {
      if (!isObject(logins)) throw new TypeError('Expected logins')
      return new Map(Object.entries(logins).map(([key, sealed]) => [key, decode(key, textOf(sealed) ?? '', cipher)]))
    },
    mask(logins) {
      for (const [key, { login }] of logins) if (login !== undefined) mask(key, login)
    },
  })
  return {
    read: () => file.read(),
    rewrite: () => file.rewrite(),
    update: (change) =>
      file.update(async (current) => {
        const next = await change(current)
        for (const [key, { login }] of current) {
          if (login !== undefined && next.get(key)?.login === undefined) setMasked(nameOf(key), [])
        }
        for (const [key, { login }] of next) {
          if (login !== undefined && current.get(key)?.login !== login) mask(key, login)
        }
        return next
      }),
  }
}

/** Returns the logins with this entry as the newest. Above `loginLimit`, drops the login with the oldest change. */
export function withKept(logins: KeptLogins, key: string, kept: KeptLogin): KeptLogins {
  const others = [...logins].filter(([other]) => other !== key).slice(1 - loginLimit)
  return new Map([...others, [key, kept]])
}

/** Returns the logins except those of servers with this name; the same map if no server has the name. */
export function withoutName(logins: KeptLogins, name: string): KeptLogins {
  const others = [...logins].filter(([key]) => !key.startsWith(`[${JSON.stringify(name)},`))
  return others.length === logins.size ? logins : new Map(others)
}

/**
 * Returns the newer login: the stored login (`kept`) or the login in the settings (`given`). A given login without a
 * time counts as newer, unless its token was refused. Returns undefined when there is none, and when the stored login
 * is newer but has ended.
 */
export function newest(kept: KeptLogin | undefined, given: Login | undefined): Login | undefined {
  if (kept === undefined || given === undefined) return given ?? kept?.login
  const isNewer = given.obtainedAt === 0 ? kept.refused !== given.accessToken : given.obtainedAt > kept.since
  return isNewer ? given : kept.login
}

/** Returns the tokens and the client secret of a login. */
export function secretsOf({ accessToken, refreshToken, source }: Login): string[] {
  return [accessToken, refreshToken, source?.client.secret].flatMap((secret) => secret ?? [])
}

/** Returns the logins by server name, for the log. Addresses are left out, because they may contain credentials. */
function byServer(logins: KeptLogins): ReadonlyMap<string, readonly KeptLogin[]> {
  const found = new Map<string, KeptLogin[]>()
  for (const [key, kept] of logins) {
    const name = JSON.stringify(serverOf(key).name)
    found.set(name, [...(found.get(name) ?? []), kept])
  }
  return found
}

/** Returns the name and the address in a key of `keyOf`. */
function serverOf(key: string): LoginServer {
  const [name, url] = Object.values(parseJson(key) ?? {})
  if (typeof name !== 'string' || typeof url !== 'string') throw new TypeError('Expected the key of a login')
  return { name, url }
}

function nameOf(key: string): string {
  return `login ${key}`
}

function encode({ login, since, refused }: KeptLogin): string {
  return JSON.stringify({ state: login === undefined ? null : stateOf(login), since, refused })
}

function decode(key: string, sealed: string, cipher: Cipher): KeptLogin {
  const opened = cipher.open(sealed, contextOf(key))
  const { url } = serverOf(key)
  const content = opened === undefined ? undefined : parseJson(opened)
  if (!isObject(content)) throw new TypeError('Expected a sealed login of a server')
  const login = loginOf(content['state'], url)
  return { login, since: numberOf(content['since']) ?? 0, refused: textOf(content['refused']) }
}

function contextOf(key: string): string {
  return `mcp-logins.${key}`
}
