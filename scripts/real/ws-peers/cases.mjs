import { createHash } from 'node:crypto'

// The cases of `npm run real-ws` for clients in JavaScript, of any library. An adapter opens a connection:
// { extensions, send(data, fragments), ping(text), close(code, reason), next(), closed }.
// Each case is told in one line of JSON on the standard output.

export async function runCases(open) {
  const { url, deflate, cases } = JSON.parse(process.argv[2])
  let socket
  for (const each of cases) {
    let outcome
    try {
      socket ??= await open(url, deflate)
      outcome = await within(120_000, runCase(socket, each))
    } catch (error) {
      outcome = String(error)
    }
    if (outcome !== 'done' || each.do !== 'echo') socket = undefined
    const skipped = outcome.startsWith('skipped')
    const line = { name: each.name, isRight: outcome === 'done', skipped, seen: outcome }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
  process.exit(0)
}

async function runCase(socket, { do: what, type, length, fragments, code, deflated, message }) {
  const { extensions } = socket
  if (deflated !== undefined && extensions !== undefined && /permessage-deflate/.test(extensions) !== deflated) {
    return `extensions: ${extensions}`
  }
  if (what === 'events') return `frames ${JSON.stringify(await events(socket, message))}`
  if (what === 'ping') return (await socket.ping('are you there')) ?? 'done'
  if (what === 'echo') return echo(socket, payloadOf(type, length), fragments)
  if (what === 'close') {
    socket.close(code, 'why')
  } else {
    socket.send(`close:${code}`, 1)
  }
  const seen = await socket.closed
  return seen === code ? 'done' : `closed with ${seen}`
}

/** Sends a message to a conversation; the digests of all frames until it has been served. */
async function events(socket, message) {
  socket.send(message, 1)
  const digests = []
  for (;;) {
    const frame = await socket.next()
    digests.push(createHash('sha256').update(frame).digest('hex'))
    const { kind, key, value } = JSON.parse(frame)
    if (kind === 'ConversationStateUpdateEvent' && key === 'execution_status' && value === 'finished') return digests
  }
}

async function echo(socket, payload, fragments) {
  const refusal = socket.send(payload, fragments)
  if (refusal !== undefined) return `skipped: ${refusal}`
  const answer = await socket.next()
  const [sent, got] = [Buffer.from(payload), Buffer.from(answer)]
  if ((typeof answer === 'string') !== (typeof payload === 'string')) return 'the answer is of the other type'
  return sent.equals(got) ? 'done' : `an answer of ${got.length} bytes that is not what was sent`
}

export function payloadOf(type, length) {
  if (type === 'text') return 'words of a message that come again, '.repeat(length / 36 + 1).slice(0, length)
  const varied = Array.from({ length: Math.min(length, 5000) }, (_, index) => (index * 7 + (index >> 8)) & 0xff)
  return Buffer.from(varied.concat(new Array(Math.max(0, length - 5000)).fill(1)))
}

export function inParts(payload, count) {
  const size = Math.ceil(payload.length / count)
  return Array.from({ length: count }, (_, index) => payload.slice(index * size, (index + 1) * size))
}

/** Messages that arrive before or after somebody asks for them. */
export function mailbox() {
  const waiting = []
  const letters = []
  return {
    put: (letter) => (waiting.length > 0 ? waiting.shift()(letter) : letters.push(letter)),
    next: () => {
      return letters.length > 0 ? Promise.resolve(letters.shift()) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

function within(ms, promise) {
  let timer
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('late')), ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
