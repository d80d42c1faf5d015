/**
 * Makes the forms in which a secret value appears in text: plain, JSON-escaped, URL-encoded (RFC 3986 section 2.1) and
 * base64 (RFC 4648 sections 4 and 5).
 *
 * A value is JSON-escaped once and twice, because tool arguments are JSON inside JSON. The plain and JSON forms also
 * exist with CR LF as line breaks, for terminals. The plain form also exists without line breaks. A value in another
 * encoding is not found.
 */

import { minSecretLength } from './masking-values.ts'

/** Returns the forms in which `value` may appear in text. `value` must have at least `minSecretLength` characters. */
export function secretForms(value: string): string[] {
  const terminal = value.replaceAll(/\r?\n/g, '\r\n')
  const joined = value.replaceAll(/\r?\n/g, '')
  const plain = [value, terminal, ...jsonForms(value), ...jsonForms(terminal), ...urlForms(value)]
  const forms = new Set([...plain, ...base64Forms(value)])
  for (const form of base64Forms(escapeJson(value))) forms.add(form)
  if (joined.length >= minSecretLength) forms.add(joined)
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

/** Escapes the characters outside of ASCII in JSON-escaped text. */
function escapeNonAscii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function urlForms(text: string): string[] {
  // `encodeURIComponent` throws on a lone surrogate. The conversion to UTF-8 and back replaces it.
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
    // A base64 character holds 6 bits. Only characters whose bits all come from the secret are kept.
    const stable = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [stable, stable.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
