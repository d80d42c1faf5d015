import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import {
  decodeText, encodeText, looksBinary, replaceText, type Encoding, type TextFile,
} from '../../../../src/parts/builtin/workspace/text-file.ts'

const test = suite('workspace/text-file')

function decoded(bytes: Buffer): TextFile {
  const file = decodeText(bytes)
  if (file === undefined) throw new Error('it is no text')
  return file
}

/** Replaces the first occurrence. */
function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const file = decoded(bytes)
  const start = file.text.indexOf(from)
  return replaceText(file, [{ start, end: start + from.length, by: to }])
}

const utf16le = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')
const utf16be = (text: string): Buffer => utf16le(text).swap16()

const texts: readonly (readonly [string, Buffer, Encoding])[] = [
  ['empty', Buffer.alloc(0), 'utf-8'],
  ['ASCII', Buffer.from('one\ntwo\n'), 'utf-8'],
  ['UTF-8', Buffer.from('grüße 🙂\n'), 'utf-8'],
  ['a mark in the middle', Buffer.from('a\ufeffb'), 'utf-8'],
  ['UTF-8 with a mark', Buffer.from('\ufeffone\r\n'), 'utf-8-bom'],
  ['only a mark', Buffer.from('\ufeff'), 'utf-8-bom'],
  ['two marks', Buffer.from('\ufeff\ufeff'), 'utf-8-bom'],
  ['UTF-16, little end first', utf16le('grüße 🙂\r\n'), 'utf-16le'],
  ['UTF-16, big end first', utf16be('grüße 🙂\n'), 'utf-16be'],
  ['Latin-1', Buffer.from('grüße\n', 'latin1'), 'single bytes'],
  ['Windows-1252', Buffer.from([0x93, 0x61, 0x94, 0x0a]), 'single bytes'],
  ['cut UTF-8', Buffer.from([0x61, 0xe2, 0x82]), 'single bytes'],
  ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), 'single bytes'],
  ['no line end at the end', Buffer.from('a\nb'), 'utf-8'],
  ['CRLF', Buffer.from('a\r\nb\r\n'), 'utf-8'],
  ['mixed', Buffer.from('a\r\nb\nc\rd\r\r\n\n'), 'utf-8'],
  ['only line ends', Buffer.from('\n\r\n\r'), 'utf-8'],
]

test('every text comes back byte for byte', () => {
  for (const [name, bytes, encoding] of texts) {
    const file = decoded(bytes)
    assert.is(file.encoding, encoding, name)
    assert.is(file.text, file.raw.replaceAll('\r\n', '\n'), name)
    assert.equal(replaceText(file, []), bytes, name)
    for (let at = 0; at <= file.text.length; at++) {
      if (/[\ud800-\udbff]$/.test(file.text.slice(0, at))) continue
      assert.equal(replaceText(file, [{ start: at, end: at, by: '' }]), bytes, `${name} at ${at}`)
    }
  }
})

test('a replacement changes its own bytes only, and takes over the line end of the file', () => {
  const table: readonly (readonly [Buffer, string, string, Buffer])[] = [
    [Buffer.from('a\r\nb\r\nc'), 'b', 'x\ny', Buffer.from('a\r\nx\r\ny\r\nc')],
    [Buffer.from('a\r\nb\r\nc'), 'a\nb', 'x', Buffer.from('x\r\nc')],
    [Buffer.from('a\r\nb\r\nc'), 'b', 'x\r\ny', Buffer.from('a\r\nx\r\ny\r\nc')],
    [Buffer.from('a\nb\nc'), 'b', 'x\r\ny', Buffer.from('a\nx\ny\nc')],
    [Buffer.from('a\r\nb\nc\r\nd\n\r\n'), 'b', 'x\ny', Buffer.from('a\r\nx\r\ny\nc\r\nd\n\r\n')],
    [Buffer.from('a\r\nb\nc\n'), 'b', 'x\ny', Buffer.from('a\r\nx\ny\nc\n')],
    [Buffer.from('\ufeffa\r\n'), 'a', 'b', Buffer.from('\ufeffb\r\n')],
    [utf16le('a\r\nb'), 'b', 'grüße', utf16le('a\r\ngrüße')],
    [utf16be('a🙂b'), '🙂', '🎈', utf16be('a🎈b')],
    [Buffer.from('grüße', 'latin1'), 'ß', 'é', Buffer.from('grüée', 'latin1')],
    [Buffer.from('a\r\n'), 'a\n', '', Buffer.alloc(0)],
  ]
  for (const [bytes, from, to, expected] of table) {
    assert.equal(replaced(bytes, from, to), expected, JSON.stringify(bytes.toString()))
  }
})

test('several replacements are made at once', () => {
  const file = decoded(Buffer.from('a\r\nb\r\na\r\nb'))
  const ends = [0, 4].map((start) => ({ start, end: start + 1, by: 'x\nx' }))
  assert.is(replaceText(file, ends).toString(), 'x\r\nx\r\nb\r\nx\r\nx\r\nb')
})

test('what is no text is not taken for one', () => {
  const binaries: readonly Buffer[] = [
    Buffer.from('a\0b'),
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    Buffer.from([0xff, 0xfe, 0x41]),
    Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
    Buffer.from([0xfe, 0xff, 0xd8, 0x00]),
    Buffer.from([0xfe, 0xff, 0x00]),
    Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]),
    Buffer.from([0xef, 0xbb, 0xbf, 0xff]),
    Buffer.from('\ufeffa\0'),
  ]
  for (const bytes of binaries) assert.is(decodeText(bytes), undefined, bytes.toString('hex'))
  assert.ok(looksBinary('\x01'))
  assert.not(looksBinary('\t\n\r\f\x1b[0m'))
})

test('what the encoding of a file cannot hold is refused, not damaged', () => {
  assert.throws(
    () => replaced(Buffer.from('grüße', 'latin1'), 'g', '€'), /Cannot write "€" into this file: it is not UTF-8/,
  )
  assert.throws(() => replaced(Buffer.from('a'), 'a', '\ud800'), /half of a character/)
  assert.throws(() => encodeText('\udc00'), /half of a character/)
  assert.equal(encodeText('grüße\r\n'), Buffer.from('grüße\r\n'))
})

test.run()
