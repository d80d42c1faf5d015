/**
 * The gate by which a browser reaches the network: the SOCKS 5 handshake byte by byte, and the connections that it lets
 * through.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { isOwnAddress, type AddressRule } from '../../../src/parts/net/address.ts'
import { openGate, type Gate, type GateOptions } from '../../../src/parts/browser/gate.ts'
import type { SocksTarget } from '../../../src/parts/browser/socks.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/browser/gate')

interface Bench {
  readonly gate: Gate
  /** Of a server that answers each chunk with itself, in capitals. */
  readonly port: number
  readonly targets: SocksTarget[]
  open(): Promise<Client>
}

interface Client {
  readonly socket: Socket
  send(bytes: readonly number[] | string): void
  /** Returns the received bytes as hexadecimal digits, once there are so many or the end has come. */
  receive(count: number): Promise<string>
  ended(): Promise<string>
}

const all: AddressRule = () => true

async function withGate(options: Partial<GateOptions>, body: (bench: Bench) => Promise<void>): Promise<void> {
  const echo: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => socket.write(chunk.toString().toUpperCase()))
    socket.on('end', () => socket.end('.'))
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  const address = echo.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const targets: SocksTarget[] = []
  const gate = await openGate({ ...options, ruleFor: (target) => {
    targets.push(target)
    return (options.ruleFor ?? (() => all))(target)
  } })
  const clients: Client[] = []
  const open = async (): Promise<Client> => {
    const client = await openClient(gate.port)
    clients.push(client)
    return client
  }
  try {
    await body({ gate, port, targets, open })
  } finally {
    await gate.close()
    for (const { socket } of clients) socket.destroy()
    await new Promise((resolve) => echo.close(resolve))
  }
}

async function openClient(port: number): Promise<Client> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let isOver = false
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
  socket.on('error', () => undefined)
  socket.on('end', () => (isOver = true))
  socket.on('close', () => (isOver = true))
  const take = (): string => {
    const text = received.toString('hex')
    received = Buffer.alloc(0)
    return text
  }
  return {
    socket,
    send: (bytes) => void socket.write(typeof bytes === 'string' ? bytes : Buffer.from(bytes)),
    receive: async (count) => {
      await until(() => received.length >= count || isOver)
      return take()
    },
    ended: async () => {
      await until(() => isOver)
      return take()
    },
  }
}

const hex = (text: string): string => Buffer.from(text).toString('hex')
const bytesOf = (port: number): number[] => [port >> 8, port & 255]
const granted = '05000001000000000000'
const refused = '05020001000000000000'
const unreachable = '05040001000000000000'
const toName = (name: string, port: number): number[] => [
  5, 1, 0, 3, name.length, ...Buffer.from(name), ...bytesOf(port),
]

test('connects to an address and passes bytes on, both ends of it', () => withGate({}, async (
  { port, open, targets },
) => {
  const client = await open()
  client.send([5, 1, 0])
  assert.is(await client.receive(2), '0500')
  client.send([5, 1, 0, 1, 127, 0, 0, 1, ...bytesOf(port)])
  assert.is(await client.receive(10), granted)
  client.send('hello')
  assert.is(await client.receive(5), hex('HELLO'))
  client.socket.end()
  assert.is(await client.ended(), hex('.'))
  assert.equal(targets, [{ host: '127.0.0.1', port }])
}))

test('takes a handshake in single bytes, and what comes right behind it', () => withGate({}, async ({ port, open }) => {
  const client = await open()
  for (const byte of [5, 2, 1, 0, ...toName('127.0.0.1', port)]) {
    client.send([byte])
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.send('early')
  assert.is(await client.receive(17), `0500${granted}${hex('EARLY')}`)
}))

test('resolves names itself, and judges what they stand for', () => withGate(
  { ruleFor: ({ host }) => (host === 'localhost' ? (address) => !isOwnAddress(address) : all) },
  async ({ port, open, targets }) => {
    const client = await open()
    client.send([5, 1, 0, ...toName('LOCALHOST', port)])
    assert.is(await client.ended(), `0500${refused}`)
    assert.equal(targets, [{ host: 'localhost', port }])
    const unknown = await open()
    unknown.send([5, 1, 0, ...toName('no-such-name.invalid', port)])
    assert.is(await unknown.ended(), `0500${unreachable}`)
  },
))

test(
  'refuses what the rule knows nothing of, and addresses that nobody may reach',
  () => withGate({ ruleFor: ({ port }) => (port === 1 ? undefined : all) }, async ({ open }) => {
    const requests = [
      toName('example.org', 1),
      [5, 1, 0, 1, 169, 254, 169, 254, 0, 80],
      [5, 1, 0, 4, 0xfe, 0x80, ...Array.from({ length: 13 }, () => 0), 1, 0, 80],
    ]
    for (const request of requests) {
      const client = await open()
      client.send([5, 1, 0, ...request])
      assert.is(await client.ended(), `0500${refused}`)
    }
  }),
)

test('says that nobody answers at a port', () => withGate({}, async ({ open, gate }) => {
  const other = await openGate({ ruleFor: () => undefined })
  await other.close()
  const client = await open()
  client.send([5, 1, 0, ...toName('[::ffff:127.0.0.1]', other.port)])
  assert.is(await client.ended(), `0500${unreachable}`)
  assert.ok(gate.port > 0)
}))

const broken: [what: string, bytes: readonly number[], answer: string][] = [
  ['another version', [4, 1, 0], '05ff'],
  ['no way without a password', [5, 1, 2], '05ff'],
  ['a request of another version', [5, 1, 0, 4, 1, 0, 1], '050005070001000000000000'],
  ['a command other than CONNECT', [5, 1, 0, 5, 2, 0, 1], '050005070001000000000000'],
  ['an unknown kind of address', [5, 1, 0, 5, 1, 0, 9], '0500'],
  ['a handshake that ends early', [5], ''],
]
for (const [what, bytes, answer] of broken) {
  test(`ends a connection with ${what}`, () => withGate({}, async ({ open, targets }) => {
    const client = await open()
    client.send(bytes)
    if (bytes.length === 1) client.socket.end()
    assert.is(await client.ended(), answer)
    assert.equal(targets, [])
  }))
}

test('gives up a handshake that does not end', () => withGate({ timeoutMs: 50 }, async ({ open }) => {
  const client = await open()
  client.send([5])
  assert.is(await client.ended(), '')
}))

test('takes no more connections than its limit', () => withGate({ connectionLimit: 1 }, async ({ open }) => {
  const first = await open()
  first.send([5, 1, 0])
  assert.is(await first.receive(2), '0500')
  const second = await open()
  assert.is(await second.ended(), '')
}))

test('ends every connection when it is closed, and can be closed twice', () => withGate({}, async (
  { gate, port, open },
) => {
  const client = await open()
  client.send([5, 1, 0, ...toName('127.0.0.1', port)])
  assert.is(await client.receive(12), `0500${granted}`)
  await Promise.all([gate.close(), gate.close()])
  assert.is(await client.ended(), '')
}))

test.run()
