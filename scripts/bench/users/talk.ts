/**
 * Measures the time that the server adds to a talk with an agent that takes no time itself: from a message to the first
 * piece of the answer, and from the answer to a question of the agent to the agent's next text.
 *
 * The clock runs from the sending of the request to the frame on a socket. Both sides talk to an agent of the same
 * kind (piped-agents), which is there already.
 */
import type { Socket } from 'node:net'
import { startChild } from '../child.ts'
import type { Gate } from '../gate.ts'
import { pipedAgent } from '../piped-agent.ts'
import { compare } from '../rounds.ts'
import { openSocket, receiveUntil } from '../sockets.ts'
import { httpClient, type HttpClient } from './client.ts'
import { medianOf, userRow, watchedTimes } from './row.ts'
import { createConversation, follow, withServer } from './server.ts'

const talksPerRound = 20

/** A conversation as its client has it. */
interface Side {
  readonly socket: Socket
  say(text: string): Promise<unknown>
  accept(question: string): Promise<unknown>
}

export const talk: Gate = ({ budgetMs }) => withServer([], async (server) => {
  const talkers = startChild('piped-agents')
  const bareTalkers = startChild('piped-agents')
  const bare = startChild('users/bare-talk', [String(await bareTalkers.ask('pipes', 1))])
  const port = Number(await bare.ask('port'))
  const client = httpClient(port, '')
  const command = pipedAgent(String(await talkers.ask('pipes', 1)), 0)
  const id = await createConversation(server, command, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  const sides = {
    limit: bareSide(await openSocket({ port, path: '/', key: '' }), client),
    ours: ourSide(await follow(server, id), server, `/api/conversations/${id}/events`),
  }
  try {
    const first = await server.watched(() => compare({
      limit: medianOf(talksPerRound, () => firstPiece(sides.limit)),
      ours: medianOf(talksPerRound, () => firstPiece(sides.ours)),
    }, budgetMs / 2))
    const asked = await server.watched(() => compare({
      limit: medianOf(talksPerRound, () => answerQuestion(sides.limit)),
      ours: medianOf(talksPerRound, () => answerQuestion(sides.ours)),
    }, budgetMs / 2))
    return [
      userRow({
        what: 'first piece of the answer after a message',
        limit: 'node:http, write and sync of the message, line splitter',
        ...watchedTimes(first), target: { atMost: 10 },
        why: 'a model takes hundreds of milliseconds; the server must be lost in that',
      }),
      userRow({
        what: 'confirmation: from the answer to what the agent says next',
        limit: 'node:http, write and sync of the answer, line splitter',
        ...watchedTimes(asked), target: { atMost: 10 },
        why: 'an agent asks often, and a user who has just clicked waits for nothing else',
      }),
    ]
  } finally {
    client.close()
    for (const { socket } of [sides.limit, sides.ours]) socket.destroy()
    await Promise.all([bare, talkers, bareTalkers].map((child) => child.stop()))
  }
})

/** Says something, and returns when the first piece of the answer came. */
async function firstPiece({ socket, say }: Side): Promise<number> {
  const begin = performance.now()
  return (await hear(socket, begin, () => say('once 1'))).pieceMs
}

/** Lets the agent ask, accepts, and returns how long after that the agent was heard. */
async function answerQuestion({ socket, say, accept }: Side): Promise<number> {
  const [asked] = await Promise.all([question(socket), say('ask 1')])
  const begin = performance.now()
  return (await hear(socket, begin, () => accept(asked))).pieceMs
}

/** Does something that makes the agent talk, and reads to the end of its turn. */
async function hear(
  socket: Socket, begin: number, act: () => Promise<unknown>,
): Promise<{ readonly pieceMs: number }> {
  let pieceMs = NaN
  let rest = ''
  const ended = receiveUntil(socket, (text) => {
    rest += text
    if (Number.isNaN(pieceMs) && rest.includes('delta at<')) pieceMs = performance.now() - begin
    return turnEnd.test(rest)
  })
  await Promise.all([ended, act()])
  return { pieceMs }
}

/** Reads to the agent's question, and returns its id. */
async function question(socket: Socket): Promise<string> {
  let rest = ''
  await receiveUntil(socket, (text) => {
    rest += text
    return isQuestion.test(rest)
  })
  return /ask-\d+-\d+/.exec(rest)?.[0] ?? ''
}

const turnEnd = /"end_turn"|"key":"execution_status","value":"finished"/
const isQuestion = /session\/request_permission|"value":"waiting_for_confirmation"/

function bareSide(socket: Socket, client: HttpClient): Side {
  return {
    socket,
    say: (text) =>
      client.call('POST', '/', { jsonrpc: '2.0', id: 0, method: 'session/prompt', params: { text } }),
    accept: (id) =>
      client.call('POST', '/', { jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } }),
  }
}

function ourSide(socket: Socket, client: HttpClient, events: string): Side {
  return {
    socket,
    say: (text) => client.call('POST', events, { role: 'user', content: [{ type: 'text', text }], run: true }),
    accept: () => client.call('POST', `${events}/respond_to_confirmation`, { accept: true }),
  }
}
