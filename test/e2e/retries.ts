/**
 * A server that is killed while requests with idempotency keys are under way, and started again for their retries.
 *
 * The short test and the long test are this one function. In every round each kind of request is sent several times at
 * once, the server is killed after a number of answers or of milliseconds that is drawn, and all of it is sent again to
 * the next server on the same folder: all answers, before and after, are the same, and the log has one effect.
 */
import * as assert from 'uvu/assert'
import { below, seeded } from '../storage/samples.ts'
import { listAt, member, type RestResponse } from '../support/rest.ts'
import { fakeAgent, type Program, type StartProgram } from '../support/server.ts'
import { messagesOf, startTalk, statusesOf, talkTo, userMessage } from './talk.ts'

export interface RetryOptions {
  readonly rounds: number
  readonly seed: number
  /** How many of each kind are sent at once. */
  readonly copies: number
}

interface Attempt {
  readonly name: string
  readonly path: string
  readonly body: object | undefined
  readonly key: string
  /** The number of effects of each request: 1 if all is well. */
  readonly effects: (program: Program) => Promise<readonly number[]>
}

const builtIn = { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] }

export async function killAndRetry(start: StartProgram, { rounds, seed, copies }: RetryOptions): Promise<void> {
  const random = seeded(seed)
  const totals = { answers: 0, cutOff: 0 }
  let program = await start()
  for (let round = 0; round < rounds; round++) {
    const attempts = await prepare(program, round)
    const killed = program
    const kill = (): void => void killed.child.kill('SIGKILL')
    // In half of the rounds before any answer may have come.
    let left = below(random, 2) === 0 ? below(random, attempts.length * copies) : attempts.length * copies
    const soon = left < attempts.length * copies ? undefined : setTimeout(kill, below(random, 40))
    const before = await sendAll(killed, attempts, copies, () => {
      if (left-- === 0) kill()
    })
    clearTimeout(soon)
    await killed.stop('SIGKILL')
    program = await start()
    const after = await sendAll(program, attempts, copies, () => undefined)
    for (const attempt of attempts) {
      const label = `seed ${seed}, round ${round}, ${attempt.name}`
      const came = before.get(attempt.key) ?? []
      const answers = [...came, ...(after.get(attempt.key) ?? [])]
      totals.answers += answers.length
      totals.cutOff += copies - came.length
      assert.is(answers.length, came.length + copies, label)
      assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, label)
      assert.ok([200, 201].includes(answers[0]?.status ?? 0), `${label}: ${answers[0]?.text}`)
      assert.equal(new Set(await attempt.effects(program)), new Set([1]), label)
    }
  }
  process.stdout.write(
    `seed ${seed}: ${rounds} kills, ${totals.answers} answers, ${totals.cutOff} requests cut off; one effect for ` +
      'each key\n',
  )
  await program.stop('SIGTERM')
}

/** Conversations in which there is something to do, and the requests that do it. */
async function prepare(program: Program, round: number): Promise<Attempt[]> {
  const agent = fakeAgent('echo')
  const [listener, runnable, waiting] = await Promise.all([
    startTalk(program, { agent }),
    startTalk(program, { agent }),
    startTalk(program, { agent: builtIn, confirmation_policy: { kind: 'AlwaysConfirm' } }),
  ])
  await Promise.all([runnable.send('to be run', false), waiting.send('Show me something')])
  await waiting.reaches('waiting_for_confirmation')
  const countIn = async (server: Program, id: string): Promise<number[]> => {
    const events = await talkTo(server, id).events()
    return [statusesOf(events).filter((status) => status === 'running').length]
  }
  const said = async (server: Program, id: string): Promise<number[]> => {
    const events = await talkTo(server, id).events()
    return [messagesOf(events, 'user').length, ...(await countIn(server, id))]
  }
  return [
    {
      name: 'create',
      key: `create-${round}`,
      path: '/api/conversations',
      body: { agent, tags: { round: String(round) }, initial_message: userMessage('begin') },
      effects: async (server) => {
        const ids = await madeIn(server, round)
        return [ids.length, ...(await Promise.all(ids.map((id) => said(server, id)))).flat()]
      },
    },
    {
      name: 'message', key: `message-${round}`, path: `${listener.path}/events`, body: userMessage('hello', true),
      effects: (server) => said(server, listener.id),
    },
    {
      name: 'run', key: `run-${round}`, path: `${runnable.path}/run`, body: undefined,
      effects: (server) => countIn(server, runnable.id),
    },
    {
      name: 'answer',
      key: `answer-${round}`,
      path: `${waiting.path}/events/respond_to_confirmation`,
      body: { accept: true },
      // The first run asked.
      effects: async (server) => (await countIn(server, waiting.id)).map((count) => count - 1),
    },
  ]
}

async function madeIn({ rest }: Program, round: number): Promise<string[]> {
  const { json } = await rest.get('/api/conversations/search?limit=100')
  return listAt(json, 'items').filter((item) => member(item, 'tags', 'round') === String(round)).map((item) => {
    return String(member(item, 'id'))
  })
}

/** The answers that came, by key. */
async function sendAll(
  { rest }: Program,
  attempts: readonly Attempt[],
  copies: number,
  onAnswer: () => void,
): Promise<ReadonlyMap<string, readonly RestResponse[]>> {
  const answers = new Map(attempts.map(({ key }): [string, RestResponse[]] => [key, []]))
  const sending = Array.from({ length: copies }, () => attempts).flat().map(async ({ path, body, key }) => {
    const call = { headers: { 'Idempotency-Key': key }, ...(body === undefined ? {} : { body }) }
    const answer = await rest.send('POST', path, call).catch(() => undefined)
    if (answer === undefined) return
    answers.get(key)?.push(answer)
    onAnswer()
  })
  await Promise.all(sending)
  return answers
}
