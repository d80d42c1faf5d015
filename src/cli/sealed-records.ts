/**
 * Finds the sealing (encryption) keys that a conversation needs, from the private records of its log.
 *
 * Only the newest agent settings and the newest value of each secret count.
 */
import { isObject, parseOwnJson } from '../base/json.ts'
import { keysOfTokens } from '../settings/key-ids.ts'

export class SealedRecords {
  #agent: unknown
  readonly #secrets = new Map<string, unknown>()

  take(json: Buffer): void {
    const record = parseOwnJson(json.toString())
    const [type, value]: readonly unknown[] = Array.isArray(record) ? record : []
    if (type === 'agent') this.#agent = value
    if (type === 'secrets') this.#takeSecrets(value)
    if (type !== 'created' || !isObject(value)) return
    this.#agent = value['agent']
    this.#secrets.clear()
    this.#takeSecrets(value['secrets'])
  }

  forget(): void {
    this.#agent = undefined
    this.#secrets.clear()
  }

  /** Returns the ids of the keys that seal the newest agent settings and secrets of the records taken so far. */
  keys(): ReadonlySet<string> {
    return keysOfTokens([this.#agent, ...this.#secrets.values()])
  }

  #takeSecrets(secrets: unknown): void {
    if (isObject(secrets)) for (const [name, source] of Object.entries(secrets)) this.#secrets.set(name, source)
  }
}
