/**
 * Reads the session key or the init key of a request, and compares it with the configured keys.
 *
 * The time of a comparison does not depend on how much of a key is right.
 */
import { timingSafeEqual } from 'node:crypto'
import { headerValues } from './headers.ts'

/** The longest key in bytes. A longer candidate is refused without a comparison: the limit is no secret. */
export const maxKeyBytes = 256

export interface SessionKeys {
  /** True if the candidate equals one of the keys. */
  has(candidate: string): boolean
}

export type Credential =
  | { readonly kind: 'absent' }
  | { readonly kind: 'given'; readonly key: string }
  /** A key that was sent more than once, even with equal values. */
  | { readonly kind: 'ambiguous' }

/** Returns the object that compares candidates with these keys. @throws RangeError for an empty or too long key */
export function createSessionKeys(keys: readonly string[]): SessionKeys {
  const blocks = keys.map((key) => {
    const length = Buffer.byteLength(key)
    if (length === 0 || length > maxKeyBytes) {
      throw new RangeError(`A session key has 1 to ${maxKeyBytes} bytes, not ${length}`)
    }
    return fillBlock(createBlock(), key)
  })
  const scratch = createBlock()
  return {
    has(candidate: string): boolean {
      if (Buffer.byteLength(candidate) > maxKeyBytes) return false
      fillBlock(scratch, candidate)
      let found = false
      for (const block of blocks) found = timingSafeEqual(block, scratch) || found
      scratch.fill(0)
      return found
    },
  }
}

/** Returns the credential in `X-Session-API-Key`, or in `Authorization: Bearer` if the first header is missing. */
export function readBearerCredential(rawHeaders: readonly string[]): Credential {
  const own = readHeaderCredential(rawHeaders)
  if (own.kind !== 'absent') return own
  const values = headerValues(rawHeaders, 'authorization')
  return credentialOf(values.flatMap((value) => /^Bearer +(\S+) *$/i.exec(value)?.[1] ?? []))
}

/** Returns the credential in the header `X-Session-API-Key`. */
export function readHeaderCredential(rawHeaders: readonly string[]): Credential {
  return credentialOf(headerValues(rawHeaders, 'x-session-api-key'))
}

/** Returns the credential in the header `X-Init-API-Key`. */
export function readInitCredential(rawHeaders: readonly string[]): Credential {
  return credentialOf(headerValues(rawHeaders, 'x-init-api-key'))
}

/**
 * Returns the credential of a socket's upgrade request: the query parameter `session_api_key` or, if it is missing, the
 * header `X-Session-API-Key`, which browsers cannot set (contract/websocket.md, section 1.2).
 */
export function readSocketCredential(rawHeaders: readonly string[], query: string): Credential {
  const inQuery = new URLSearchParams(query).getAll('session_api_key')
  return inQuery.length > 0 ? credentialOf(inQuery) : readHeaderCredential(rawHeaders)
}

function createBlock(): Buffer {
  return Buffer.alloc(2 + maxKeyBytes)
}

/** Writes the text's length in bytes (as 2 bytes) and the text into a zeroed block, and returns the block. */
function fillBlock(block: Buffer, text: string): Buffer {
  block.writeUInt16BE(block.write(text, 2), 0)
  return block
}

function credentialOf(values: readonly string[]): Credential {
  const [key] = values
  if (key === undefined) return { kind: 'absent' }
  return values.length === 1 ? { kind: 'given', key } : { kind: 'ambiguous' }
}
