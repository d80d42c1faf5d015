/**
 * The forms in which a secret value shows up in text: as it is, with terminal line ends, JSON-escaped (once and twice,
 * because tool arguments are JSON inside JSON), URL-encoded (RFC 3986 section 2.1 with either case of the hex digits,
 * and as in a form), and base64 (RFC 4648 sections 4 and 5) at each of the three positions that bytes can have in it.
 *
 * A base64 form is the part of the encoding that depends on the secret alone; up to one character on either side
 * mixes in bits of its neighbours and stays. Not covered: other encodings, base64 broken into lines, a secret that
 * was split or reversed on purpose. Masking protects against accidents, not against a program that wants to leak.
 */

/** All different forms of one value, none of them empty. */
export function secretForms(value: string): string[] {
  const written = [value, value.replaceAll(/\r?\n/g, '\r\n')]
  const forms = new Set<string>()
  for (const text of written) {
    forms.add(text)
    for (const form of jsonForms(text)) forms.add(form)
    for (const form of urlForms(text)) forms.add(form)
    for (const form of base64Forms(text)) forms.add(form)
  }
  return [...forms]
}

function jsonForms(text: string): string[] {
  const once = escapeJson(text)
  const ascii = escapeNonAscii(once)
  return [once, ascii, escapeJson(once), escapeJson(ascii)]
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** What printers that keep to ASCII make of a JSON text. */
function escapeNonAscii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function urlForms(text: string): string[] {
  // encodeURIComponent throws on a lone surrogate; the way through UTF-8 replaces it, as every writer of bytes does.
  const component = encodeURIComponent(Buffer.from(text).toString())
  const form = new URLSearchParams([['', text]]).toString().slice(1)
  return [component, lowerHex(component), form, lowerHex(form)]
}

function lowerHex(encoded: string): string {
  return encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
}

function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text)
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // A character holds 6 bits: keep those whose bits all come from the secret.
    const stable = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [stable, stable.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
