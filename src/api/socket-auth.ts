/**
 * Authenticates a socket whose upgrade request had no key. Its first frame must have a key, or the proof of a page
 * session (the console's cookie session), as in contract/websocket.md, section 1. Before this frame, the client gets
 * no data.
 */
import { isObject, parseJson } from '../base/json.ts'
import type { KeyRing, Principal } from '../http/principal.ts'
import type { RefusedKeys, RefusedThing } from '../http/refused-keys.ts'
import type { WebSocketConnection } from '../ws/connection.ts'

export interface Admission {
  /** The client, if it is authenticated. Otherwise the key ring that finds the client by its first frame. */
  readonly by: Principal | KeyRing
  /** Called with an authenticated client. Returns true if the connection may be served, otherwise closes it. */
  readonly onAdmitted: (connection: WebSocketConnection, principal: Principal) => boolean
  readonly address: string | undefined
  /** The credential of the first frame in words, such as `A session key`, for the log line about a refusal. */
  readonly given: RefusedThing
}

export interface AdmissionRules {
  readonly authTimeoutMs: number
  readonly refusedKeys: RefusedKeys
}

const unauthorized = 4001
const authFrameLimitBytes = 16 * 1024

/**
 * Calls `serve` once the client is authenticated and `onAdmitted` returns true. If the upgrade request did not
 * authenticate the client, the first frame must do so. A wrong first frame or a time-out closes the socket.
 */
export function admitSocket(
  connection: WebSocketConnection, admission: Admission, rules: AdmissionRules,
  serve: (principal: Principal) => void,
): void {
  const { by, onAdmitted, address, given } = admission
  const admit = (principal: Principal): void => {
    if (onAdmitted(connection, principal)) serve(principal)
  }
  if ('rights' in by) return admit(by)
  connection.maxMessageBytes = authFrameLimitBytes
  const refuse = (): void => connection.close(unauthorized, 'Authentication failed')
  const timer = setTimeout(refuse, rules.authTimeoutMs)
  connection.owner = {
    onClose: () => clearTimeout(timer),
    onMessage(message) {
      clearTimeout(timer)
      const key = message.kind === 'text' ? keyOfAuthFrame(message.text) : undefined
      const principal = key === undefined ? undefined : by.find(key)
      if (principal !== undefined) admit(principal)
      else if (key === undefined) refuse()
      else connection.owner = { onMessage: () => undefined, onClose: rules.refusedKeys.refuse(address, refuse, given) }
    },
  }
}

/** Returns the key of a frame `{"type":"auth","session_api_key":"..."}`; undefined for any other frame. */
function keyOfAuthFrame(text: string): string | undefined {
  try {
    const value = parseJson(text)
    if (!isObject(value) || value['type'] !== 'auth') return undefined
    return typeof value['session_api_key'] === 'string' ? value['session_api_key'] : undefined
  } catch {
    return undefined // `parseJson` refused the text.
  }
}

/** True for an authentication frame without members other than `type` and `session_api_key`. */
export function isAuthFrame(value: unknown): boolean {
  if (!isObject(value) || value['type'] !== 'auth') return false
  return Object.keys(value).every((name) => name === 'type' || name === 'session_api_key')
}
