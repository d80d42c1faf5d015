/** The parts that tests of peers share: a peer whose other side is the test, and waits. */
import { PassThrough } from 'node:stream'
import { LineFraming } from '../../src/rpc/lines.ts'
import { RpcPeer, type RpcPeerOptions } from '../../src/rpc/peer.ts'

export const v = { jsonrpc: '2.0' }

/** A peer whose other side is the test: it reads `sent` and writes raw lines. */
export function openPeer(options: Partial<RpcPeerOptions> = {}, queueLimitBytes = 1_000_000) {
  const input = new PassThrough()
  const output = new PassThrough()
  const invalid: [string, unknown][] = []
  const peer = new RpcPeer({
    framing: new LineFraming({ input, output, queueLimitBytes }),
    onInvalid: (what, detail) => invalid.push([what, detail]),
    ...options,
  })
  const sent: Record<string, unknown>[] = []
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) sent.push(JSON.parse(line))
  })
  const receive = (...values: unknown[]): void =>
    void input.write(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
  return { peer, input, output, sent, invalid, receive }
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

export async function turns(): Promise<void> {
  for (let count = 0; count < 10; count++) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns the error that a promise was rejected with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(() => ({ failed: false, error: undefined }), (error: unknown) => ({
    failed: true, error,
  }))
  if (!outcome.failed) throw new Error('expected a failure')
  return outcome.error
}
