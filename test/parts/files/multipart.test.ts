/**
 * Forms: the forms of common clients are read, cut anywhere; a form that could be read in two ways is refused; memory
 * is bounded.
 */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { boundaryOf, readParts, type MultipartLimits } from '../../../src/parts/files/multipart.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files/multipart')

type Fields = readonly (readonly [name: string, content: string])[]

/** Reads a form that arrives in pieces of this size. */
async function read(body: string | Buffer, size = Infinity, limits?: MultipartLimits): Promise<Fields> {
  const fields: [string, string][] = []
  for await (const { name, content } of readParts(pieces(Buffer.from(body), size), 'b', limits)) {
    const taken: Buffer[] = []
    for await (const piece of content) taken.push(Buffer.from(piece))
    fields.push([name, Buffer.concat(taken).toString('latin1')])
  }
  return fields
}

async function* pieces(body: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < body.length; at += Math.min(size, body.length)) yield body.subarray(at, at + size)
}

async function codeOf(body: string | Buffer, limits?: MultipartLimits): Promise<string> {
  const outcomes = new Set<string>()
  for (const size of [1, 3, Infinity]) {
    outcomes.add(await read(body, size, limits).then((fields) => JSON.stringify(fields), (thrown: unknown) => {
      return thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : String(thrown)
    }))
  }
  assert.is(outcomes.size, 1, [...outcomes].join('\n'))
  return [...outcomes].join()
}

const part = (name: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`

test('reads the boundary of a content type', () => {
  assert.is(boundaryOf('multipart/form-data; boundary=b'), 'b')
  assert.is(boundaryOf('Multipart/Form-Data ;charset=utf-8; BOUNDARY="a b?"'), 'a b?')
  assert.is(boundaryOf(`multipart/form-data; boundary=${'b'.repeat(70)}`).length, 70)
})

for (const [type, code] of [
  [undefined, 'unsupported_media_type'],
  ['', 'unsupported_media_type'],
  ['application/json', 'unsupported_media_type'],
  ['multipart/mixed; boundary=b', 'unsupported_media_type'],
  ['multipart/form-data', 'bad_request'],
  ['multipart/form-data; boundary=', 'bad_request'],
  ['multipart/form-data; boundary=""', 'bad_request'],
  ['multipart/form-data; boundary="b "', 'bad_request'],
  ['multipart/form-data; boundary="b\\"c"', 'bad_request'],
  ['multipart/form-data; boundary=b; boundary=c', 'bad_request'],
  ['multipart/form-data; boundary=b c', 'bad_request'],
  [`multipart/form-data; boundary=${'b'.repeat(71)}`, 'bad_request'],
] as const) {
  test(`refuses the content type ${JSON.stringify(type)?.slice(0, 60)}`, () => {
    assert.throws(() => boundaryOf(type), (thrown: unknown) => thrown instanceof AppError && thrown.code === code)
  })
}

test('reads what clients write, wherever it is cut', async () => {
  const bodies: readonly (readonly [string, Fields])[] = [
    ['--b--', []],
    ['--b--\r\n', []],
    [`${part('file', '')}--b--`, [['file', '']]],
    [`${part('a', 'one')}${part('file', 'two\r\n--\r\n--c\r\n-')}--b--\r\n`,
      [['a', 'one'], ['file', 'two\r\n--\r\n--c\r\n-']]],
    // undici
    [
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a%22.txt"\r\nContent-Type: text/plain\r\n\r\n' +
        'x\r\n--b--\r\n',
      [['file', 'x']],
    ],
    // curl
    [
      '--b\r\nContent-Disposition: form-data; name="a\\"b"; filename=x\r\ncontent-transfer-encoding: Binary\r\n\r\n' +
        'x\r\n--b--\r\n',
      [['a"b', 'x']],
    ],
    ['--b\r\nContent-Disposition:Form-Data;name=file\r\nX-Empty:\r\n\r\n\r\n\r\n--b--\r\n', [['file', '\r\n']]],
  ]
  for (const [body, fields] of bodies) {
    for (let size = 1; size <= body.length + 1; size++) {
      assert.equal(await read(body, size), fields, `${size} of ${body}`)
    }
  }
})

test('keeps every byte of a content', async () => {
  const content = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 256))
  const body = Buffer.concat([Buffer.from(part('file', '').slice(0, -2)), content, Buffer.from('\r\n--b--\r\n')])
  for (const size of [1021, 65_536, Infinity]) {
    assert.equal(await read(body, size), [['file', content.toString('latin1')]])
  }
})

test('skips what the caller does not read of a part', async () => {
  const body = Buffer.from(`${part('a', 'x'.repeat(100))}${part('c', 'y'.repeat(100))}${part('d', 'z')}--b--`)
  const names: string[] = []
  for await (const { name, content } of readParts(pieces(body, 7), 'b')) {
    names.push(name)
    if (name === 'c') await content.next()
    if (name === 'd') await content.return()
  }
  assert.equal(names, ['a', 'c', 'd'])
})

const malformed = 'bad_request: Could not read the form: '
for (const [what, body, reason] of [
  ['nothing', '', 'it does not begin with its boundary'],
  ['a preamble', `hello\r\n${part('a', '')}--b--`, 'it does not begin with its boundary'],
  ['a line before the first boundary', `\r\n${part('a', '')}--b--`, 'it does not begin with its boundary'],
  ['an end right after a boundary', '--b', 'a boundary is followed by other bytes'],
  ['padding after a boundary', '--b \r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--b--',
    'a boundary is followed by other bytes'],
  ['a longer boundary', `${part('a', 'x')}--bc--`, 'a boundary is followed by other bytes'],
  ['an epilogue', `${part('a', '')}--b--\r\nmore`, 'bytes follow its end'],
  ['an epilogue without a line end', '--b--more', 'bytes follow its end'],
  ['an end in headers', '--b\r\nContent-Disposition: form-data', 'it ends in the headers of a part'],
  ['an end in a content', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--', 'it ends in a part'],
  ['no headers', '--b\r\n\r\n\r\nx\r\n--b--', 'a header of a part is malformed'],
  ['a header without a name', '--b\r\n: x\r\n\r\nx\r\n--b--', 'a header of a part is malformed'],
  ['a folded header', '--b\r\nContent-Disposition: form-data;\r\n name="a"\r\n\r\nx\r\n--b--',
    'a header of a part is malformed'],
  ['a control character', '--b\r\nContent-Disposition: form-data; name="a\0"\r\n\r\nx\r\n--b--',
    'a header of a part is malformed'],
  ['a bare line end', '--b\r\nContent-Disposition: form-data; name="a\n"\r\n\r\nx\r\n--b--',
    'a header of a part is malformed'],
  ['a header twice', '--b\r\nContent-Disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="b"\r\n' +
    '\r\nx\r\n--b--',
    'a part has the header "content-disposition" twice'],
  ['no disposition', '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--', 'a part has no name'],
  ['another disposition', '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--', 'a part has no name'],
  ['no name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--', 'a part has no name'],
  ['a name twice', '--b\r\nContent-Disposition: form-data; name="a"; NAME="b"\r\n\r\nx\r\n--b--', 'a part has no name'],
  ['an open quote', '--b\r\nContent-Disposition: form-data; name="a\r\n\r\nx\r\n--b--', 'a part has no name'],
  ['a transfer encoding', '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n' +
    '\r\nx\r\n--b--',
    'a part has a transfer encoding'],
  ['headers that are not UTF-8', Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b--', 'latin1',
  ),
    'the headers of a part are not UTF-8'],
] as const) {
  test(`refuses ${what}`, async () => assert.is(await codeOf(body), malformed + reason))
}

test('refuses too many parts and too long headers', async () => {
  const limits = { partLimit: 2, headerLimitBytes: 100 }
  const two = part('a', '') + part('c', '')
  assert.is(await codeOf(`${two}--b--`, limits), '[["a",""],["c",""]]')
  assert.match(await codeOf(`${two}${part('d', '')}--b--`, limits), 'body_too_large')
  assert.match(await codeOf(`--b\r\nX: ${'x'.repeat(100)}\r\n\r\n`, limits), 'body_too_large')
  assert.match(await codeOf(`--b\r\nX: ${'x'.repeat(1000)}`, limits), 'body_too_large')
})

test('takes headers up to the limit to the byte, wherever they are cut', async () => {
  const headers = 'Content-Disposition: form-data; name="a"'
  const body = Buffer.from(`--b\r\n${headers}\r\n\r\nx\r\n--b--`)
  for (let size = 1; size <= body.length; size++) {
    const limits = { partLimit: 1, headerLimitBytes: headers.length }
    assert.equal(await read(body, size, limits), [['a', 'x']], String(size))
    const refused = await read(body, size, { ...limits,
      headerLimitBytes: headers.length - 1 }).catch((thrown: unknown) => thrown)
    assert.ok(refused instanceof AppError && refused.code === 'body_too_large', String(size))
  }
})

test('holds no more than a piece and a delimiter, however long a content is', async () => {
  const piece = Buffer.alloc(64 * 1024, '\r\n--')
  let given = 0
  let taken = 0
  let most = 0
  async function* source(): AsyncGenerator<Buffer, void> {
    yield Buffer.from(part('file', '').slice(0, -2))
    for (let count = 0; count < 500; count++) {
      given += piece.length
      yield piece
    }
    yield Buffer.from('\r\n--b--')
  }
  for await (const { content } of readParts(source(), 'b')) {
    for await (const { length } of content) {
      taken += length
      most = Math.max(most, given - taken)
    }
  }
  assert.is(taken, 500 * piece.length)
  assert.ok(most <= piece.length + 5, String(most))
})

test('reads headers in time that is linear in their length', async () => {
  const start = process.cpuUsage().user
  for (const filler of [' '.repeat(8000), '; a=b'.repeat(1600), '\\"'.repeat(4000), ';'.repeat(8000)]) {
    assert.match(await codeOf(`--b\r\nContent-Disposition: form-data${filler}\0\r\n\r\nx\r\n--b--`), 'bad_request')
    assert.match(
      await codeOf(`--b\r\nContent-Disposition: form-data; name="${filler}\r\n\r\nx\r\n--b--`), 'bad_request',
    )
  }
  // Quadratic work would take minutes.
  assert.ok(process.cpuUsage().user - start < 10_000_000)
})

test.run()
