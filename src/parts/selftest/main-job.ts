/** The steps of the self-test, such as a run of an agent. Each step returns a line about its result. */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { memberAt, objectOf, textOf } from '../../base/fields.ts'
import { isObject } from '../../base/json.ts'
import { sleep } from '../../base/wait.ts'
import type { Answer, ServerProcess } from './server-process.ts'

export interface Step {
  readonly name: string
  /** Returns the line about a step that passed. @throws an error for a step that failed */
  readonly run: () => Promise<string>
}

/** The time limit of the run of the demonstration agent. */
const runTimeoutMs = 60_000

/** Returns the steps. Run them in this order: a step may need the steps before it. */
export function mainJob(server: ServerProcess, signal: AbortSignal): readonly Step[] {
  return [...access(server), ...conversation(server, signal), ...settings(server)]
}

function access(server: ServerProcess): readonly Step[] {
  const needsKey = async (): Promise<string> => {
    const status = await server.statusWithoutKey('/api/conversations/search')
    if (status !== 401) throw failure(`a request without the key has status ${status}, expected 401`)
    return 'a request without the session key has status 401'
  }
  const describes = async (): Promise<string> => {
    const paths = Object.keys(objectOf((await server.call('GET', '/openapi.json'))['paths'])).length
    if (paths === 0) throw failure('/openapi.json names no path')
    return `/openapi.json names ${paths} paths`
  }
  return [{ name: 'needs a key', run: needsKey }, { name: 'describes itself', run: describes }]
}

function conversation(server: ServerProcess, signal: AbortSignal): readonly Step[] {
  const { call, places } = server
  let path = ''
  let events: readonly Answer[] = []
  const converse = async (): Promise<string> => {
    const workspace = { working_dir: join(places.work, 'project') }
    const id = (await call('POST', '/api/conversations', { workspace }))['id']
    path = `/api/conversations/${textOf(id) ?? ''}`
    const content = [{ type: 'text', text: 'run: echo it works > result.txt && cat result.txt' }]
    await call('POST', `${path}/events`, { role: 'user', content, run: true })
    await untilFinished(server, path, signal)
    return 'the demonstration agent has finished its run'
  }
  const list = async (): Promise<string> => {
    const items = (await call('GET', `${path}/events/search?limit=100`))['items']
    events = (Array.isArray(items) ? items : []).filter(isObject)
    const kinds = new Set(events.map((event) => event['kind']))
    const missing = ['MessageEvent', 'ActionEvent', 'ObservationEvent'].filter((kind) => !kinds.has(kind))
    if (missing.length > 0) throw failure(`the history has no ${missing.join(', ')}`)
    if (!JSON.stringify(events).includes('it works')) throw failure('the output of the command is not there')
    return `the history has ${events.length} events, with the output of the command`
  }
  const readOne = async (): Promise<string> => {
    const action = events.find((event) => event['kind'] === 'ActionEvent')
    if (action === undefined) throw failure('there is no action to read')
    const read = await call('GET', `${path}/events/${textOf(action['id']) ?? ''}`)
    if (JSON.stringify(read) !== JSON.stringify(action)) throw failure('the event differs from the list')
    return 'one event, read by its id, is the same as in the list'
  }
  return [
    { name: 'runs an agent', run: converse },
    { name: 'keeps its events', run: list },
    { name: 'reads one event', run: readOne },
  ]
}

function settings({ call }: ServerProcess): readonly Step[] {
  const change = async (): Promise<string> => {
    const wanted = { agent_settings_diff: { agent_kind: 'acp', acp_server: 'claude-code' } }
    const name = memberAt(await call('PATCH', '/api/settings', wanted), 'agent_settings', 'acp_server')
    if (name !== 'claude-code') throw failure(`the settings name the agent ${JSON.stringify(name)}`)
    return 'the settings name another agent for new conversations'
  }
  return [{ name: 'changes settings', run: change }]
}

async function untilFinished({ call }: ServerProcess, path: string, signal: AbortSignal): Promise<void> {
  const end = performance.now() + runTimeoutMs
  for (;;) {
    const status = (await call('GET', path))['execution_status']
    if (status === 'finished') return
    if (status === 'error' || status === 'stuck') throw failure(`the run ended with the status ${status}`)
    if (performance.now() > end) throw failure(`the run has not finished within ${runTimeoutMs} ms`)
    await sleep(100, signal)
  }
}

function failure(text: string): AppError {
  return new AppError('upstream_failed', text)
}
