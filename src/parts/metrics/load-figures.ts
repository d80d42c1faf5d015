/** Converts the load of the server (`ServerLoad`) into metrics. */
import type { ServerLoad } from '../../server-load.ts'
import { executionStatusValues } from '../../schema/generated/conversations.ts'
import { counter, gauge, type Family } from './exposition.ts'

export function loadFamilies(load: ServerLoad, connections: number): Family[] {
  return [...conversationFamilies(load), ...logFamilies(load), ...agentFamilies(load), one(
    gauge, 'agent_server_connections', "Open connections of the server's own listener.", connections,
  ), ...partFamilies(load)]
}

function conversationFamilies({ conversations, work }: ServerLoad): Family[] {
  const { statuses, open, sums } = conversations
  return [
    gauge('agent_server_conversations', 'Conversations by execution status, open or closed.',
      [...statuses].map(([status, value]) => ({ labels: { status }, value }))),
    one(gauge, 'agent_server_conversations_open', 'Conversations in memory.', open),
    counter('agent_server_status_changes_total', 'Changes of conversations to an execution status.',
      executionStatusValues.map((status) => ({ labels: { status }, value: work.entered(status) }))),
    one(gauge, 'agent_server_readers', 'Live readers of conversations: WebSockets and streams.', sums.readers),
    one(gauge, 'agent_server_readers_behind', 'Live readers that lack events or take none.', sums.readersBehind),
    one(gauge, 'agent_server_messages_waiting', 'User messages that no turn has served, of open conversations.',
      sums.waitingMessages),
  ]
}

function logFamilies({ conversations, work, written, readsWaiting }: ServerLoad): Family[] {
  return [
    one(counter, 'agent_server_events_total', 'Events that became durable.', work.events),
    one(counter, 'agent_server_log_written_bytes_total', 'Bytes written to logs.', written.bytes),
    {
      name: 'agent_server_log_write_duration_seconds',
      type: 'summary',
      help: 'Writes to logs, each with its sync, and their time.',
      samples: [{ suffix: '_sum', value: written.ms / 1000 }, { suffix: '_count', value: written.writes }],
    },
    one(gauge, 'agent_server_log_queue_bytes', 'Bytes that wait to be written to logs.',
      conversations.sums.queuedBytes),
    one(gauge, 'agent_server_log_reads_waiting', 'Reads of logs that wait, for readers that are behind.', readsWaiting),
  ]
}

function agentFamilies({ agents, work }: ServerLoad): Family[] {
  return [
    gauge('agent_server_agents', 'Programs of external agents: running, and waiting for a place.', [
      { labels: { state: 'running' }, value: agents.running },
      { labels: { state: 'waiting' }, value: agents.waiting },
    ]),
    one(gauge, 'agent_server_agents_limit', 'External agents that may run at the same time.', agents.limit),
    counter('agent_server_tokens_total', 'Tokens that agents reported, by kind.',
      Object.entries(work.tokens).map(([kind, value]) => ({ labels: { kind }, value }))),
    one(counter, 'agent_server_cost_dollars_total', 'Known cost of the agents, in US dollars.', work.cost),
  ]
}

/**
 * Returns the figures of the parts as metrics. A figure whose name does not fit `[a-z_]+` is left out. Of figures with
 * the same name, the last is used.
 */
function partFamilies({ parts }: ServerLoad): Family[] {
  const sound = parts.filter(({ name }) => /^[a-z_]+$/.test(name))
  const families = sound.map(({ name, type, about, value }): Family => {
    return { name: `agent_server_${name}`, type, help: about, samples: [{ value }] }
  })
  return [...new Map(families.map((family) => [family.name, family])).values()]
}

/** Makes a family with a single sample, which has no labels. */
export function one(make: typeof gauge, name: string, help: string, value: number): Family {
  return make(name, help, [{ value }])
}
