/**
 * One scenario's share of a stage: a workspace and the conversations that it opens in it.
 *
 * At the end of every scenario each history must be sound, no key may show, and when the conversations are deleted, no
 * process of theirs may be left.
 */
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelRequest } from '../../test/fixtures/model-server.ts'
import { sleep } from '../../src/base/wait.ts'
import { isAcpServer } from '../../src/schema/generated/settings.ts'
import type { RealAgent } from './agents.ts'
import { check, checkAnswers, type Check } from './checks.ts'
import { memberAt } from './member.ts'
import { markedProcesses } from './processes.ts'
import { callServer } from './rest.ts'
import { apiKey, type Stage } from './stage.ts'
import { Talk } from './talk.ts'

export interface Scenario {
  readonly name: string
  /** The model's tokens per second; played once for each. Default: `usualPaces`. */
  readonly paces?: readonly number[]
  /** Tells whether the agent can run the scenario. */
  readonly isFor?: (agent: RealAgent) => boolean
  readonly run: (scene: Scene) => Promise<Check[]>
}

export interface SceneOptions {
  /** The kind of the confirmation policy. Default: every action is asked about. */
  readonly policy?: 'AlwaysConfirm' | 'NeverConfirm'
  readonly secrets?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface SceneReport {
  readonly checks: readonly Check[]
  readonly events: readonly unknown[]
}

export async function playScenario({ run }: Scenario, pace: number, stage: Stage): Promise<SceneReport> {
  stage.setPace(pace)
  const scene = new Scene(stage, await mkdtemp(join(stage.folder, 'workspace-')))
  const found = await run(scene).catch((error: unknown) => [check(String(error), false, true)])
  const events = await scene.events()
  const shown = JSON.stringify([events, scene.frames(), stage.server().output()])
  const ids = await scene.sessionIds()
  const after = [
    ...checkAnswers(events),
    check('the key is nowhere', shown.includes(apiKey), false),
    check('the id of the session is nowhere', [ids.length > 0, ids.some((id) => shown.includes(id))], [true, false]),
  ]
  await scene.end()
  const left = await scene.processesLeft()
  return { checks: [...found, ...after, check('no process is left', left, [])], events }
}

/** A preset by its name; another one is a custom server whose command is its name. */
function choiceOf({ provider }: RealAgent): object {
  return isAcpServer(provider) ? { acp_server: provider } : { acp_server: 'custom', acp_command: [provider] }
}

export class Scene {
  readonly stage: Stage
  readonly workspace: string
  readonly #firstRequest: number
  #talk: Talk | undefined

  constructor(stage: Stage, workspace: string) {
    this.stage = stage
    this.workspace = workspace
    this.#firstRequest = stage.model.requests.length
  }

  /** The requests that the model got in this scene. */
  get requests(): readonly ModelRequest[] {
    return this.stage.model.requests.slice(this.#firstRequest)
  }

  /** Opens the conversation of this scene. */
  async open({ policy = 'AlwaysConfirm', secrets = {}, settings = {} }: SceneOptions = {}): Promise<Talk> {
    const { agent } = this.stage
    const created = await callServer(this.stage.server(), 'POST', '/api/conversations', {
      agent_settings: { agent_kind: 'acp', ...choiceOf(agent), ...settings },
      workspace: { kind: 'LocalWorkspace', working_dir: this.workspace },
      confirmation_policy: { kind: policy },
      secrets: Object.fromEntries(
        Object.entries(secrets).map(([name, value]) => [name, { kind: 'StaticSecret', value }]),
      ),
      autotitle: false,
    })
    return this.#watch(String(memberAt(created, 'id')))
  }

  /** The same conversation on the server of this moment. */
  async reopen(): Promise<Talk> {
    const id = this.#talk?.id ?? ''
    await this.#talk?.close()
    return this.#watch(id)
  }

  async events(): Promise<unknown[]> {
    return (await this.#talk?.events()) ?? []
  }

  frames(): readonly unknown[] {
    return this.#talk?.frames ?? []
  }

  async end(): Promise<void> {
    await this.#talk?.call('DELETE', '')
    await this.#talk?.close()
  }

  /** Which sessions the agent had, from the private records of the conversation (src/conversation/log/records.ts). */
  async sessionIds(): Promise<string[]> {
    const path = join(this.stage.folder, 'data', 'conversations', this.#talk?.id ?? '', 'events.jsonl')
    const log = await readFile(path, 'utf8').catch(() => '')
    return [...log.matchAll(/"key":"session","value":\{"id":"([^"]+)"/g)].map(([, id = '']) => id)
  }

  /**
   * Returns the processes that are left a moment after the end: a deleted conversation is cleared away behind its
   * answer.
   */
  async processesLeft(): Promise<string[]> {
    const find = (): ReturnType<typeof markedProcesses> => markedProcesses(this.stage.server().instance)
    for (let waited = 0; waited < 10_000 && (await find()).length > 0; waited += 100) await sleep(100)
    return (await find()).map(({ pid, command }) => `${pid} ${command}`)
  }

  async #watch(id: string): Promise<Talk> {
    const talk = new Talk(this.stage.server(), id)
    this.#talk = talk
    await talk.until('the first frame', () => true)
    return talk
  }
}
