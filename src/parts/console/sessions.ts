/**
 * The sessions of the console: signed-in browsers.
 *
 * A session has a token (in the cookie) and a proof (kept by the page). The server stores their digests in
 * `console-sessions.json`. A session ends seven days after its last use, thirty days after its beginning, with its
 * named key, or at a client's request. If there are `sessionLimit` sessions, a new session ends the session that was
 * not used for the longest time.
 */
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { errorOf } from '../../base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import type { Log } from '../../base/log.ts'
import type { PageSession, PageSessionSource } from '../../http/page-sessions.ts'
import type { NamedKeys } from '../../http/principal.ts'
import { digestOf, isSameDigest, newSecret } from './secret.ts'

const idleMs = 7 * 24 * 60 * 60_000
export const lifeMs = 30 * 24 * 60 * 60_000
const sessionLimit = 100
const labelChars = 200
/** After a use of a session, the file is written only if the last write is longer ago than this, in milliseconds. */
const saveEveryMs = 10 * 60_000
/** The interval at which ended sessions are removed. */
const sweepEveryMs = 60_000

/** A session without its secrets. */
export interface SessionView {
  readonly id: string
  /** The id of the named key with which the session was begun; undefined for a session key. */
  readonly key: string | undefined
  /** The host and port of the sign-in (header `Host`), for which the session is valid. */
  readonly host: string
  /** The first `labelChars` characters of the header `User-Agent`. */
  readonly label: string
  /** The time of the sign-in, in milliseconds since the epoch. */
  readonly begun: number
  /** The time of the last request, or of the sign-in before the first request, in milliseconds since the epoch. */
  readonly used: number
}

interface Session extends SessionView {
  readonly token: string
  readonly proof: string
  used: number
  readonly held: Set<() => void>
}

export interface SessionParts {
  readonly dataDir: string
  readonly clock: () => number
  readonly log: Log
  readonly namedKeys: NamedKeys
  /** The interval at which ended sessions are removed. Default 60 s. */
  readonly sweepEveryMs?: number
}

export class Sessions implements PageSessionSource {
  readonly #path: string
  readonly #parts: SessionParts
  /** The sessions by the digest of the token, in the order of the sign-ins. */
  readonly #sessions = new Map<string, Session>()
  #savedAt = 0
  #saving: Promise<void> = Promise.resolve()
  readonly #sweep: NodeJS.Timeout

  private constructor(parts: SessionParts) {
    this.#path = join(parts.dataDir, 'console-sessions.json')
    this.#parts = parts
    this.#sweep = setInterval(() => this.#dropEnded(), parts.sweepEveryMs ?? sweepEveryMs)
    this.#sweep.unref()
  }

  /** Reads the stored sessions. An unreadable file is logged and read as empty. */
  static async open(parts: SessionParts): Promise<Sessions> {
    const sessions = new Sessions(parts)
    const stored = await readJsonFile(sessions.#path).catch((thrown: unknown) => {
      parts.log.warn('The sessions of the console cannot be read: sign in again', { error: errorOf(thrown) })
    })
    const { items } = objectOf(stored)
    for (const session of Array.isArray(items) ? items.flatMap(sessionOf) : []) {
      sessions.#sessions.set(session.token, session)
    }
    sessions.#dropEnded()
    return sessions
  }

  /** Begins a session and returns its secrets. Resolves when the session is written, or the write failed. */
  async begin(
    { host, label, key }: Pick<SessionView, 'host' | 'label' | 'key'>,
  ): Promise<{ token: string; proof: string }> {
    const [token, proof] = [newSecret(), newSecret()]
    const now = this.#parts.clock()
    const session: Session = {
      id: randomUUID(), key, host, label: label.slice(0, labelChars), begun: now, used: now,
      token: digestOf(token), proof: digestOf(proof), held: new Set(),
    }
    this.#dropEnded()
    const [oldest] = [...this.#sessions.values()].sort((a, b) => a.used - b.used)
    if (this.#sessions.size >= sessionLimit && oldest !== undefined) this.#end(oldest)
    this.#sessions.set(session.token, session)
    await this.#save()
    return { token, proof }
  }

  find(token: string, host: string): PageSession | undefined {
    const session = this.#sessions.get(digestOf(token))
    const now = this.#parts.clock()
    if (session === undefined || session.host !== host || isEnded(session, now)) return undefined
    const principal = session.key === undefined ? undefined : this.#parts.namedKeys.source?.byId(session.key)
    if (session.key !== undefined && principal === undefined) return undefined
    session.used = now
    if (now - this.#savedAt > saveEveryMs) void this.#save()
    return {
      id: session.id,
      principal,
      hasProof: (candidate) => isSameDigest(digestOf(candidate), session.proof),
      hold(end) {
        session.held.add(end)
        const release = principal?.hold(end)
        return () => {
          session.held.delete(end)
          release?.()
        }
      },
    }
  }

  list(): SessionView[] {
    this.#dropEnded()
    return [...this.#sessions.values()].map(({ id, key, host, label, begun, used }) => {
      return { id, key, host, label, begun, used }
    })
  }

  /** Ends a session, its sockets and its requests. Returns false when the id is unknown. */
  async end(id: string): Promise<boolean> {
    const session = [...this.#sessions.values()].find((one) => one.id === id)
    if (session === undefined) return false
    this.#end(session)
    await this.#save()
    return true
  }

  /** Stops the removal of ended sessions, and writes all sessions, if there are any. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#sweep)
    if (this.#sessions.size > 0) await this.#save()
  }

  #end(session: Session): void {
    this.#sessions.delete(session.token)
    for (const end of session.held) end()
    session.held.clear()
  }

  #dropEnded(): void {
    const now = this.#parts.clock()
    for (const session of this.#sessions.values()) {
      if (isEnded(session, now) || this.#hasLostKey(session)) this.#end(session)
    }
  }

  /** Tells whether the named key of a session was revoked or has expired. */
  #hasLostKey({ key }: SessionView): boolean {
    const { source } = this.#parts.namedKeys
    // Before the part `keys` has started, the named keys are not known. Until then no key counts as lost.
    return key !== undefined && source !== undefined && source.byId(key) === undefined
  }

  /** Writes all sessions after earlier writes have ended. A failed write is logged, and the sessions stay valid. */
  #save(): Promise<void> {
    this.#savedAt = this.#parts.clock()
    this.#saving = this.#saving.then(async () => {
      const items = [...this.#sessions.values()].map(({ held: _, ...session }) => session)
      await writeJsonFile(this.#path, { items })
    }).catch((thrown: unknown) => {
      this.#parts.log.warn('The sessions of the console cannot be stored', { error: errorOf(thrown) })
    })
    return this.#saving
  }
}

function isEnded({ begun, used }: SessionView, now: number): boolean {
  return now - used > idleMs || now - begun > lifeMs
}

/** Returns a stored item as a list of one session; an empty list if a member other than `key` and `label` is wrong. */
function sessionOf(item: unknown): Session[] {
  const { id, key, host, label, begun, used, token, proof } = objectOf(item)
  const texts = [id, host, token, proof].flatMap((member) => textOf(member) ?? [])
  const [theId, theHost, theToken, theProof] = texts
  if (theId === undefined || theHost === undefined || theToken === undefined || theProof === undefined) return []
  if (typeof begun !== 'number' || typeof used !== 'number') return []
  const view = { id: theId, key: textOf(key), host: theHost, label: textOf(label) ?? '', begun, used }
  return [{ ...view, token: theToken, proof: theProof, held: new Set() }]
}
