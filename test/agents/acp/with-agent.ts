/**
 * Runs a real agent program behind an AcpAgent with a conversation in memory, and checks that nothing of it is left.
 */
import { AppError } from '../../../src/base/errors.ts'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { createAcpAgent, type AcpAgentOptions } from '../../../src/agents/acp/agent.ts'
import type { AcpSettings } from '../../../src/agents/acp/session/launch.ts'
import { AgentSlots } from '../../../src/agents/acp/session/slots.ts'
import { systemTimers } from '../../../src/agents/acp/calls/timers.ts'
import { silentLog } from '../../../src/base/log.ts'
import { startChild } from '../../../src/process/child.ts'
import { Family } from '../../../src/process/family.ts'
import { blankProvider, type Provider } from '../../../src/settings/provider.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { memoryHost, type MemoryHost } from './memory-host.ts'

export const fakeAgent = fileURLToPath(new URL('../../fixtures/acp-agent.js', import.meta.url))

export interface Running {
  readonly agent: ReturnType<typeof createAcpAgent>
  readonly host: MemoryHost
  readonly slots: AgentSlots
  readonly folder: string
  /** Another agent on the same conversation, as after a restart of the server. */
  again(changes?: Changes): ReturnType<typeof createAcpAgent>
}

export interface Changes {
  readonly settings?: Partial<AcpSettings>
  readonly options?: Partial<AcpAgentOptions>
}

let instances = 0

export async function withAgent(
  behaviour: string, body: (running: Running) => Promise<void>, changes: Changes = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'acp-'))
  const instanceId = `test${process.pid}-${++instances}`
  const host = memoryHost(folder)
  const slots = new AgentSlots()
  const agents: ReturnType<typeof createAcpAgent>[] = []
  const again = (more: Changes = {}): ReturnType<typeof createAcpAgent> => {
    const agent = createAcpAgent({
      settings: { ...settingsFor(behaviour), ...changes.settings, ...more.settings },
      host,
      slots,
      instanceId,
      createId: randomUUID,
      startProcess: startChild,
      mcpTokens: { tokenFor: noLogin },
      programs: {},
      providers: knownToTheTable.includes(behaviour) ? [...builtInProviders, fakeProvider] : builtInProviders,
      environment: { PATH: process.env['PATH'], HOME: folder },
      passEnvironment: [],
      runtimeDir: folder,
      makeSecretDir: async () => folder,
      platform: process.platform,
      clock: Date.now,
      timers: systemTimers,
      log: silentLog,
      version: '0.0.0',
      drainMs: 1000,
      ...changes.options,
      ...more.options,
    })
    agents.push(agent)
    return agent
  }
  try {
    await body({ agent: again(), host, slots, folder, again })
  } finally {
    await Promise.all(agents.map((agent) => agent.close()))
    const left = await new Family({ isMarked: (marker) => marker.startsWith(`${instanceId}/`) }).find()
    rmSync(folder, { recursive: true, force: true })
    assert.equal(left ?? [], [], 'processes were left')
    assert.is(slots.running, 0, 'a slot was left')
  }
}

/** The behaviours of the fake agent that an operator has put into the table, with the modes `ask` and `open`. */
const knownToTheTable = ['modes', 'refuses-mode', 'mode-notice', 'moves-itself', 'fork', 'held']

const fakeProvider: Provider = {
  ...blankProvider('fake'),
  command: [],
  prefix: 'acp-agent',
  modes: { asking: 'ask', open: 'open', moreOpen: ['open'] },
}

function settingsFor(behaviour: string): AcpSettings {
  return {
    acp_server: 'custom',
    acp_command: [process.execPath, fakeAgent],
    acp_args: [behaviour],
    acp_prompt_timeout: 60,
    acp_startup_timeout: 30,
    mcp_config: {},
    acp_file_secrets: [],
    acp_isolate_data_dir: false,
    acp_env: {},
    acp_unasked_calls: 'stop',
  }
}

/** A process that has ended but was not fetched by its parent yet is not alive. */

export function isAlive(text: string): boolean {
  const pid = /pid=(\d+)/.exec(text)?.[1] ?? ''
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function noLogin(): Promise<never> {
  throw new AppError('upstream_failed', 'Nobody is signed in')
}
