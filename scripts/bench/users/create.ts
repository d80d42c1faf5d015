/**
 * Creating a conversation, and changing a setting: both are durable when they are answered.
 */
import { startChild } from '../child.ts'
import type { Gate } from '../gate.ts'
import { compare } from '../rounds.ts'
import { httpClient } from './client.ts'
import { medianRound, userRow, watchedTimes } from './row.ts'
import { createConversation, withServer } from './server.ts'

const operations = 20

export const create: Gate = ({ budgetMs }) => withServer([], async (server) => {
  const bare = startChild('users/bare-store')
  const client = httpClient(Number(await bare.ask('port')), '')
  const change = (theme: number): object => ({ misc_settings_diff: { bench: { theme } } })
  let changes = 0
  try {
    const created = await server.watched(() => compare({
      limit: medianRound(operations, () => client.call('POST', '/create', { autotitle: false })),
      ours: medianRound(operations, () => createConversation(server)),
    }, budgetMs / 2))
    const changed = await server.watched(() => compare({
      limit: medianRound(operations, () => client.call('PATCH', '/settings', change(changes++))),
      ours: medianRound(operations, () => server.call('PATCH', '/api/settings', change(changes++))),
    }, budgetMs / 2))
    return [
      userRow({
        what: 'create a conversation',
        limit: 'node:http, a new folder with one synced file',
        ...watchedTimes(created), target: { atMost: 20 },
        why: 'a click feels immediate up to 100 ms, and a client sends the first message right after',
      }),
      userRow({
        what: 'PATCH /api/settings',
        limit: 'node:http, a synced file renamed over the old one',
        ...watchedTimes(changed), target: { atMost: 10 },
        why: 'a form that saves on each change must not lag behind typing',
      }),
    ]
  } finally {
    client.close()
    await bare.stop()
  }
})
