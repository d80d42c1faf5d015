/**
 * A day of work in one process: 10,000 turns of agents that answer at once, in conversations that are made, used for 20
 * turns and deleted, ten at a time. The memory in use must not grow with the turns.
 *
 * Memory is taken after collections, when a tenth of the turns is over and at the end, with the conversations of the
 * moment deleted. The machine's system may give a process more than it uses, so both figures are told.
 */
import { isObject } from '../../../src/base/json.ts'
import { startChild } from '../child.ts'
import type { Gate } from '../gate.ts'
import { pipedAgent } from '../piped-agent.ts'
import { receiveUntil } from '../sockets.ts'
import { exactly, userRow } from './row.ts'
import { createConversation, follow, withServer, type UserServer } from './server.ts'

const atOnce = 10
const turnsEach = 20
const dayTurns = 10_000
const quickTurns = 2_000
const megabyte = 1e6

export const day: Gate = ({ budgetMs }) => withServer([], async (server) => {
  const turns = budgetMs < 10_000 ? quickTurns : dayTurns
  const talkers = startChild('piped-agents')
  try {
    const pipes = String(await talkers.ask('pipes', atOnce))
    const work = (count: number): Promise<unknown> => Promise.all(Array.from({ length: atOnce }, (_, index) =>
      workOn(server, pipedAgent(pipes, index), count / atOnce)))
    await work(turns / 10)
    const early = await memoryOf(server)
    // Without the collections that come before a figure of memory: they are of this benchmark.
    const { stall } = await server.watched(() => work(turns * 9 / 10))
    const late = await memoryOf(server)
    const many = turns.toLocaleString('en')
    const limit = `the same after ${(turns / 10).toLocaleString('en')} turns`
    const row = (what: string, of: 'used' | 'resident', atMost: number, why: string): ReturnType<typeof userRow> =>
      userRow({
        what: `${what} after ${many} turns in one process`, unit: 'MB', limit, why, stall,
        ours: exactly(late[of] / megabyte), least: exactly(early[of] / megabyte),
        target: { atMost }, context: `${(late[of] / early[of]).toFixed(2)} of that`,
      })
    return [
      row('memory in use', 'used', 40, 'a server that runs for weeks may keep nothing of a turn'),
      row('resident memory', 'resident', 160, 'the same, with what the system has not taken back'),
    ]
  } finally {
    await talkers.stop()
  }
})

/** Does so many turns of one agent after another. */
async function workOn(server: UserServer, command: readonly string[], turns: number): Promise<void> {
  for (let left = turns; left > 0; left -= turnsEach) {
    const id = await createConversation(server, command)
    const socket = await follow(server, id)
    for (let turn = Math.min(left, turnsEach); turn > 0; turn--) {
      const message = { role: 'user', content: [{ type: 'text', text: 'once 1' }], run: true }
      let rest = ''
      const ended = receiveUntil(socket, (text) => {
        rest = rest.slice(-100) + text
        return /"key":"execution_status","value":"finished"/.test(rest)
      })
      await Promise.all([ended, server.call('POST', `/api/conversations/${id}/events`, message)])
    }
    socket.destroy()
    await server.call('DELETE', `/api/conversations/${id}`)
  }
}

async function memoryOf(server: UserServer): Promise<{ readonly used: number; readonly resident: number }> {
  const memory = await server.child.ask('memory')
  if (!isObject(memory)) throw new TypeError('Expected figures of memory')
  return { used: Number(memory['used']), resident: Number(memory['resident']) }
}
