/**
 * Finds credentials in URLs: `https://user:password@host` and `https://host/?token=...`.
 *
 * A query parameter is secret if its name says so or its value looks like a token. Secrets in the path are not found.
 */

/** Returns the secrets in a URL and the passwords in them (`passwordsIn`). Each is returned as written and decoded. */
export function addressSecrets(address: string): string[] {
  const found = new Set<string>()
  eachSecret(address, (secret) => {
    for (const part of [secret, ...passwordsIn(secret)]) found.add(part).add(decoded(part))
    return secret
  })
  return [...found]
}

/** Returns a text with `mark` in place of each secret in its URLs. */
export function redactAddresses(text: string, mark: string): string {
  return eachSecret(text, () => mark)
}

/** Matches `"://" userinfo "@"`. The time is linear in the length of the text. */
const userPart = /:\/\/([^\s/?#]+)@/g
/** Matches `( "?" / "&" ) name "=" value`. The time is linear in the length of the text. */
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

/** Returns the password in `name:password`, and the name if it looks like a token or stands without a password. */
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
    return part // Malformed percent-encoding.
  }
}
