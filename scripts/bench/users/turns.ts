/**
 * Turns of the built-in agent with a stand-in for OpenAI's Chat Completions API that answers at once: one alone, and 16
 * at the same time, each in a conversation of its own that has had one turn.
 *
 * A turn is over when the socket says that the run has finished. The public Python server is measured with the same
 * functions (peers/python.ts).
 */
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import { startOpenAiModel } from '../../../test/fixtures/openai-model.ts'
import { startChild } from '../child.ts'
import type { Gate } from '../gate.ts'
import { compare, spreadOf, type Round } from '../rounds.ts'
import { openSocket, receiveUntil } from '../sockets.ts'
import { httpClient, type HttpClient } from './client.ts'
import { costOf, timed, userRow, watchedTimes } from './row.ts'
import { placesIn, withServer } from './server.ts'

export const width = 16
const turnsPerRound = 5

/** A server that turns are held with. */
export interface TurnSubject extends Pick<HttpClient, 'call'> {
  readonly port: number
  readonly key: string
  /** Where workspaces of conversations can be made. */
  readonly workspace: string
}

/** A conversation as its client has it. */
export interface TurnTalk {
  readonly socket: Socket
  say(): Promise<unknown>
}

export const turns: Gate = ({ budgetMs }) => withServer([], async (server) => {
  const model = await startModel()
  const bare = startChild('users/bare-turn', [model.url])
  const port = Number(await bare.ask('port'))
  const client = httpClient(port, '')
  const beginBare = async (): Promise<TurnTalk> => ({
    socket: await openSocket({ port, path: '/', key: '' }), say: () => client.call('POST', '/', {}),
  })
  const ours: TurnSubject = { ...server, workspace: placesIn(server.folder).workspace }
  try {
    const one = await server.watched(() => compare({
      limit: turnRound(beginBare), ours: turnRound(() => beginTurns(ours, model.url)),
    }, budgetMs / 2))
    const many = await server.watched(() => compare({
      limit: crowdRound(beginBare), ours: crowdRound(() => beginTurns(ours, model.url)),
    }, budgetMs / 2))
    const limit = 'node:http, the same request to the model, both messages written and synced'
    return [
      userRow({
        what: 'a turn of the built-in agent', limit, ...watchedTimes(one), target: { atMost: 50 },
        why: 'an agent does a hundred steps for a task; they may cost five seconds of ours',
      }),
      userRow({
        what: `${width} turns at once`, limit, ...watchedTimes(many), target: { atMost: 400 },
        why: 'half of what they may take one after another',
      }),
    ]
  } finally {
    client.close()
    await bare.stop()
    await model.close()
  }
})

export function startModel(): ReturnType<typeof startOpenAiModel> {
  return startOpenAiModel({ script: () => [{ text: 'Here are some words of a model. '.repeat(4) }] })
}

/** A new conversation that has had one turn. */
export async function beginTurns(subject: TurnSubject, modelUrl: string): Promise<TurnTalk> {
  const llm = {
    model: 'openai/stand-in', api_key: 'a-key-of-a-model', base_url: `${modelUrl}/v1`, stream: true, num_retries: 0,
  }
  const working_dir = join(subject.workspace, `turns-${process.hrtime.bigint()}`)
  await mkdir(working_dir, { recursive: true })
  const { id } = Object(JSON.parse(await subject.call('POST', '/api/conversations', {
    agent_settings: { agent_kind: 'openhands', llm, tools: [] }, workspace: { kind: 'LocalWorkspace', working_dir },
    confirmation_policy: { kind: 'NeverConfirm' }, max_iterations: 20, autotitle: false,
  })))
  const { port, key } = subject
  const socket = await openSocket({ port, key, path: `/sockets/events/${id}` })
  const message = { role: 'user', content: [{ type: 'text', text: 'Say something.' }], run: true }
  const talk = { socket, say: () => subject.call('POST', `/api/conversations/${id}/events`, message) }
  await turn(talk)
  return talk
}

/** Milliseconds until the turn is over. */
export function turn({ socket, say }: TurnTalk): Promise<number> {
  return timed(async () => {
    let rest = ''
    const ended = receiveUntil(socket, (text) => {
      rest = rest.slice(-200) + text
      const [, status] = /"key": ?"execution_status", ?"value": ?"(finished|error|stuck)"/.exec(rest) ?? []
      if (status === undefined) return false
      if (status !== 'finished') throw new Error(`A turn ended as "${status}"`)
      return true
    })
    await Promise.all([ended, say()])
  })
}

export function turnRound(begin: () => Promise<TurnTalk>): Round {
  return async () => {
    const talk = await begin()
    const times: number[] = []
    for (let left = turnsPerRound; left > 0; left--) times.push(await turn(talk))
    talk.socket.destroy()
    return costOf(spreadOf(times).median)
  }
}

export function crowdRound(begin: () => Promise<TurnTalk>): Round {
  return async () => {
    const talks: TurnTalk[] = []
    while (talks.length < width) talks.push(await begin())
    const elapsedMs = await timed(() => Promise.all(talks.map(turn)))
    for (const { socket } of talks) socket.destroy()
    return costOf(elapsedMs)
  }
}
