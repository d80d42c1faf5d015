/** A program that only posts bytes and reads the answer, as a child: the cost of a request to any sender. */
import { request } from 'node:http'
import { isObject } from '../../src/base/json.ts'
import { answer } from './child.ts'

const pieceBytes = 64 * 1024

answer({
  async send(argument) {
    const { url, bytes, count } = isObject(argument) ? argument : {}
    const pieces = piecesOf(Number(bytes))
    for (let left = Number(count); left > 0; left--) await post(String(url), pieces)
  },
}, () => undefined)

function piecesOf(bytes: number): Buffer[] {
  const all = Buffer.alloc(bytes, 'x')
  return Array.from({ length: Math.ceil(bytes / pieceBytes) }, (_, index) => {
    return all.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  })
}

function post(url: string, pieces: readonly Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const sent = request(url, { method: 'POST', agent: false, headers: { 'content-length': length } }, (response) => {
      response.resume().once('end', resolve)
    })
    sent.once('error', reject)
    for (const piece of pieces) sent.write(piece)
    sent.end()
  })
}
