/**
 * Credentials inside addresses: `https://user:password@host` and `https://host/?token=...`.
 *
 * Some services give out addresses that are secrets themselves. What counts is the user part, and a parameter of the
 * query whose name says so or whose value looks like nothing but a token. A secret in the path, as some have it, cannot
 * be told from any other path and is not found. Works on the text as it was written, because what leaves the process
 * may quote it so (RFC 3986, sections 3.2.1 and 3.4).
 */

/** Everything in an address that must not show, as written and decoded; empty for most. */
export function addressSecrets(address: string): string[] {
  const found = new Set<string>()
  eachSecret(address, (secret) => {
    for (const part of [secret, ...passwordsIn(secret)]) found.add(part).add(decoded(part))
    return secret
  })
  return [...found]
}

/** A text with the secrets of every address in it replaced. */
export function redactAddresses(text: string, mark: string): string {
  return eachSecret(text, () => mark)
}

/** "://" userinfo "@"; like the next one it takes time in proportion to the text, whatever that is. */
const userPart = /:\/\/([^\s/?#]+)@/g
/** ( "?" / "&" ) name "=" value */
const parameter = /([?&])([^\s?=&#]+)=([^\s&#]+)/g

function eachSecret(text: string, replace: (secret: string) => string): string {
  if (!text.includes('://')) return text
  return text
    .replaceAll(userPart, (_whole, user: string) => `://${replace(user)}@`)
    .replaceAll(parameter, (whole, mark: string, name: string, value: string) => {
      return isSecret(name, value) ? `${mark}${name}=${replace(value)}` : whole
    })
}

function isSecret(name: string, value: string): boolean {
  return /auth|cookie|credential|key|pass|pwd|secret|sig|token/i.test(name) || looksLikeToken(value)
}

/** Of `name:password` the password alone, but for a name that looks like a token itself. */
function passwordsIn(user: string): string[] {
  const [name = '', ...rest] = user.split(':')
  const password = rest.join(':')
  return [password, looksLikeToken(name) || password === '' ? name : ''].filter((part) => part !== '')
}

function looksLikeToken(text: string): boolean {
  return text.length >= 20 && /\d/.test(text) && /^[\w~.%+-]+$/.test(text)
}

/** As in a form, where `+` is a space; what is not decodable stays. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return part
  }
}
