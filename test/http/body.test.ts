/** JSON bodies over real sockets: limits, media types, faults, and clients that stop or never stop. */
import * as assert from 'uvu/assert'
import { readBytes, readJsonBody, type BodyLimits } from '../../src/http/body.ts'
import type { Exchange } from '../../src/http/reply.ts'
import { suite } from '../support/suite.ts'
import { deferred } from '../../src/base/wait.ts'
import { exchange, open, parseAnswers, statuses } from './raw-client.ts'
import { sendJson, serving } from './serve.ts'

const test = suite('http/body')

const limits: BodyLimits = { limitBytes: 1000, timeoutMs: 8_000 }

/** Answers with the body as it was read. */
function echo(over: Partial<BodyLimits> = {}): (exchange: Exchange) => Promise<void> {
  return async (one) => {
    const result = await readJsonBody(one.request, { ...limits, ...over })
    if (result.ok) sendJson(one, 200, { value: result.value === undefined ? 'nothing' : result.value })
    else sendJson(one, 422, { detail: result.issues })
  }
}

function post(body: string, headers = 'Content-Type: application/json\r\n'): string {
  const length = Buffer.byteLength(body)
  return `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`
}

/** Status and body of the only answer to a request. */
async function ask(
  request: string | Buffer, over: Partial<BodyLimits> = {},
): Promise<{ status: number; body: unknown }> {
  let answer: { status: number; body: unknown } = { status: 0, body: undefined }
  await serving(echo(over), async (port) => {
    const [only] = parseAnswers(await exchange(port, request))
    answer = { status: only?.status ?? 0, body: JSON.parse(Buffer.from(only?.body ?? 'null', 'latin1').toString()) }
  })
  return answer
}

test('parses a body', async () => {
  assert.equal(await ask(post('{"a":[1,"é"]}')), { status: 200, body: { value: { a: [1, 'é'] } } })
})

test('parses a chunked body', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n' +
    'Transfer-Encoding: chunked\r\n\r\n'
  assert.equal(await ask(`${head}3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n`), { status: 200, body: { value: [1, 2] } })
  assert.equal(await ask(`${head}0\r\n\r\n`), { status: 200, body: { value: 'nothing' } })
})

test('refuses a body with too many values before it is parsed', async () => {
  const refusal = (count: number): object => {
    const ctx = { error: `JSON holds more than ${count} values` }
    return {
      status: 422,
      body: { detail: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {}, ctx }] },
    }
  }
  assert.equal(await ask(post('['.repeat(60_000)), { limitBytes: 100_000 }), refusal(50_000))
  assert.equal(await ask(post('['.repeat(3_000_000)), { limitBytes: 10_000_000 }), refusal(50_000))
  assert.equal(await ask(post('[1,2,3,4]'), { valueLimit: 3 }), refusal(3))
  assert.equal(await ask(post('[1,2,3]'), { valueLimit: 3 }), { status: 200, body: { value: [1, 2, 3] } })
})

test('takes a long body of one text, and says of a long one that is no JSON only that', async () => {
  const text = 'é'.repeat(1_500_000)
  assert.equal(await ask(post(JSON.stringify(text)), { limitBytes: 10_000_000 }), {
    status: 200, body: { value: text },
  })
  const { status, body } = await ask(post(`${JSON.stringify(text)}x`), { limitBytes: 10_000_000 })
  assert.is(status, 422)
  assert.match(JSON.stringify(body), /"loc":\["body",0\].*"expected JSON"/)
})

test('searches the fault of a long body up to one MiB only, since the search is slow', async () => {
  for (const [chars, offset] of [[1_000_000, 1_000_002], [1_100_000, 0]] as const) {
    const { body } = await ask(post(`"${'a'.repeat(chars)}"x`), { limitBytes: 10_000_000 })
    assert.match(JSON.stringify(body), `"loc":["body",${offset}]`)
  }
})

test('takes a request without a body, whatever its content type', async () => {
  const nothing = { status: 200, body: { value: 'nothing' } }
  assert.equal(await ask(post('', '')), nothing)
  assert.equal(await ask(post('')), nothing)
  assert.equal(await ask(post('', 'Content-Type: text/plain\r\n')), nothing)
  assert.equal(
    await ask('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n'), nothing,
  )
})

test('takes the media types of JSON in UTF-8', async () => {
  const types = [
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;charset=utf8',
    'application/json ; x=y',
    'application/problem+json',
  ]
  for (const type of types) assert.is((await ask(post('1', `Content-Type: ${type}\r\n`))).status, 200, type)
})

test('refuses other media types, charsets and codings with 415', async () => {
  const wrong = [
    '',
    'Content-Type: \r\n',
    'Content-Type: text/plain\r\n',
    'Content-Type: application/x-www-form-urlencoded\r\n',
    'Content-Type: multipart/form-data; boundary=json\r\n',
    'Content-Type: application/jsonp\r\n',
    'Content-Type: text/plain; a=application/json\r\n',
    'Content-Type: application/json; charset=latin1\r\n',
    'Content-Type: application/json; x=y; charset=utf-16\r\n',
    'Content-Type: application/json\r\nContent-Encoding: gzip\r\n',
  ]
  for (const headers of wrong) assert.is((await ask(post('1', headers))).status, 415, headers)
})

test('says where a body stops being JSON, and never shows it', async () => {
  const { status, body } = await ask(post('{"api_key": "s3cret", }'))
  assert.is(status, 422)
  const ctx = { error: 'expected a property name in double quotes' }
  assert.equal(body, {
    detail: [{ type: 'json_invalid', loc: ['body', 22], msg: 'JSON decode error', input: {}, ctx }],
  })
})

test('refuses bytes that are not UTF-8', async () => {
  const request = Buffer.concat([Buffer.from(post('"aa"').slice(0, -4)), Buffer.from([0x22, 0xc3, 0x28, 0x22])])
  const { status, body } = await ask(request)
  assert.is(status, 422)
  assert.match(JSON.stringify(body), /expected UTF-8/)
})

test('refuses JSON that nests too deep', async () => {
  const { status, body } = await ask(post('['.repeat(300) + ']'.repeat(300)))
  assert.is(status, 422)
  assert.match(JSON.stringify(body), /nests deeper/)
})

test('takes a body at the limit and refuses one above it', async () => {
  assert.is((await ask(post(`"${'a'.repeat(998)}"`))).status, 200)
  assert.is((await ask(post(`"${'a'.repeat(999)}"`))).status, 413)
})

test('refuses a chunked body as soon as it passes the limit', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  await serving(echo(), async (port) => {
    const connection = open(port)
    connection.socket.write(`${head}400\r\n${'a'.repeat(1024)}\r\n`)
    assert.equal(statuses(await connection.closed()), [413])
  })
})

test('refuses 100 MB by the length announced without reading them, and the client sees the answer', async () => {
  const bytesRead = deferred<number>()
  const answer = (one: Exchange): Promise<void> => {
    const { socket } = one.request
    socket.once('close', () => bytesRead.resolve(socket.bytesRead))
    return echo()(one)
  }
  await serving(answer, async (port) => {
    const connection = open(port)
    connection.socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n',
    )
    const piece = Buffer.alloc(1024 * 1024, 0x20)
    for (let count = 0; count < 100; count++) connection.socket.write(piece)
    const text = await connection.closed()
    assert.equal(statuses(text), [413])
    assert.match(text, /Connection: close/)
    const read = await bytesRead.promise
    assert.ok(read < 4 * 1024 * 1024, `${read} bytes were read`)
  })
})

test('keeps the connection when a refused body is small', async () => {
  await serving(
    (one) => sendJson(one, 401, {}),
    async (port) => {
      const request = post('{"a":1}').replace('Connection: close\r\n', '')
      assert.equal(statuses(await exchange(port, request + request + post('1'))), [401, 401, 401])
    },
  )
})

test('gives up on a body that comes too slowly', async () => {
  await serving(echo({ timeoutMs: 50 }), async (port) => {
    const connection = open(port)
    connection.socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[',
    )
    assert.equal(statuses(await connection.until((text) => text.includes('}'))), [408])
    connection.socket.destroy()
  })
})

test('notices a client that goes away in the middle of a body', async () => {
  const failure = deferred<unknown>()
  const started = deferred<void>()
  const read = (one: Exchange): void => {
    readBytes(one.request, limits).catch(failure.resolve)
    started.resolve()
  }
  await serving(read, async (port) => {
    const connection = open(port)
    connection.socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc')
    await started.promise
    connection.socket.destroy()
    assert.match(String(await failure.promise), /client closed the connection/)
  })
})

test('refuses to read for a client that is gone already', async () => {
  const failure = deferred<unknown>()
  const read = (one: Exchange): void => {
    one.request.destroy()
    readBytes(one.request, limits).catch(failure.resolve)
  }
  await serving(read, async (port) => {
    await exchange(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc')
    assert.match(String(await failure.promise), /client closed the connection/)
  })
})

test('refuses to read a body twice', async () => {
  const twice = async (one: Exchange): Promise<void> => {
    await readBytes(one.request, limits)
    await readBytes(one.request, limits)
  }
  await serving(twice, async (port) => {
    const text = await exchange(port, post('1'))
    assert.equal(statuses(text), [500])
    assert.match(text, /read already/)
  })
})

test('tells a client that waits for it to go on', async () => {
  const head = post('', '').replace(
    'Content-Length: 0', 'Content-Type: application/json\r\nContent-Length: 4\r\nExpect: 100-continue',
  )
  await serving(echo(), async (port) => {
    const connection = open(port)
    connection.socket.write(head)
    await connection.until((text) => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'))
    connection.socket.write('true')
    assert.match(await connection.closed(), /\{"value":true\}/)
  })
})

test.run()
