/**
 * Credentials inside URLs: `https://user:password@host` and `https://host/?token=...`.
 *
 * Some services hand out URLs that are secrets themselves. Secret are the user part, and the value of a query parameter
 * if its name says so or if it looks like a token. A secret in the path cannot be told from an ordinary path and is not
 * found. Works on the text as written, because output may quote it so (RFC 3986, sections 3.2.1 and 3.4).
 */

/** Returns all secrets in a URL, as written and decoded; none for most URLs. */
export function addressSecrets(address: string): string[] {
  const found = new Set<string>()
  eachSecret(address, (secret) => {
    for (const part of [secret, ...passwordsIn(secret)]) found.add(part).add(decoded(part))
    return secret
  })
  return [...found]
}

/** Replaces the secrets of every URL in a text. */
export function redactAddresses(text: string, mark: string): string {
  return eachSecret(text, () => mark)
}

/** "://" userinfo "@"; like the next expression it takes time linear in any text. */
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

/** Returns the password of `name:password`; also the name if it looks like a token or if there is no password. */
function passwordsIn(user: string): string[] {
  const [name = '', ...rest] = user.split(':')
  const password = rest.join(':')
  return [password, looksLikeToken(name) || password === '' ? name : ''].filter((part) => part !== '')
}

function looksLikeToken(text: string): boolean {
  return text.length >= 20 && /\d/.test(text) && /^[\w~.%+-]+$/.test(text)
}

/** Decodes a form value, where `+` is a space; an undecodable value stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return part
  }
}
