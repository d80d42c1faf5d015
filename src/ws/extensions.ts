/**
 * Parses the header `Sec-WebSocket-Extensions` (RFC 6455, section 9.1):
 *
 *     extension-list  = 1#extension
 *     extension       = extension-token *( ";" extension-param )
 *     extension-param = token [ "=" ( token | quoted-string ) ]
 *
 * A quoted value must be a token, so it contains no comma and no semicolon. Empty list elements are skipped, as `1#`
 * allows.
 */

export interface Offer {
  readonly name: string
  readonly parameters: readonly Parameter[]
}

export interface Parameter {
  readonly name: string
  readonly value: string | undefined
}

/** Matches one character of a token (RFC 9110, section 5.6.2). */
const tokenChar = "[!#$%&'*+.^_`|~0-9A-Za-z-]"
const tokenPattern = new RegExp(`^${tokenChar}+$`)
/** Matches a token, or a token in quotation marks, where a backslash may stand before each character. */
const valuePattern = `(${tokenChar}+)|"((?:\\\\?${tokenChar})+)"`
const parameterPattern = new RegExp(`^(${tokenChar}+)(?:[ \\t]*=[ \\t]*(?:${valuePattern}))?$`)

/** Returns the extensions in the client's order of preference; undefined when the header breaks the grammar. */
export function parseExtensions(header: string): Offer[] | undefined {
  const offers: Offer[] = []
  for (const element of header.split(',')) {
    if (element.trim() === '') continue
    const offer = parseOffer(element)
    if (offer === undefined) return undefined
    offers.push(offer)
  }
  return offers
}

function parseOffer(element: string): Offer | undefined {
  const [name = '', ...rest] = element.split(';').map((part) => part.trim())
  if (!tokenPattern.test(name)) return undefined
  const parameters: Parameter[] = []
  for (const part of rest) {
    const match = parameterPattern.exec(part)
    if (match === null) return undefined
    const [, parameter = '', token, quoted] = match
    parameters.push({ name: parameter, value: token ?? quoted?.replaceAll('\\', '') })
  }
  return { name, parameters }
}
