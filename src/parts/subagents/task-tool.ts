/**
 * The tool `task`: gives a task to a sub-agent, waits for the end, and returns the answer of the sub-agent.
 *
 * A call is recorded as an MCPToolAction with the name of this tool (decisions 1). The task's id is the id of the
 * sub-agent's conversation. A call with `resume` sends another message to that conversation. The sub-agent's steps and
 * cost also count as those of the calling agent. The parent conversation's user is asked about the sub-agent's actions.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { Limiter } from '../../base/limiter.ts'
import { untilAborted } from '../../base/wait.ts'
import {
  actionOf, mcpToolDefinition, textContent, type Tool, type ToolRun, type ToolTurn,
} from '../../agents/tool.ts'
import type { Core } from '../../capabilities.ts'
import type { SubEnd } from '../../conversation/list/sub-run.ts'
import type { SubAgentHost } from '../../offers.ts'
import type { Agent } from '../../schema/generated/conversations.ts'
import type { Observation } from '../../schema/generated/observations.ts'
import type { Definition } from './definition.ts'
import { canServe, policyFor, subAgentOf } from './inheritance.ts'
import { askAbove } from './question.ts'
import { readTask, type Task } from './task.ts'
import { describeEnd, describeTool, parametersFor } from './telling.ts'

export interface TaskToolOptions extends Pick<Core, 'subConversations'> {
  readonly conversations: Pick<Core['conversations'], 'info'>
  readonly host: SubAgentHost
  /** The settings of the agent that gives the tasks, with plain secrets. */
  readonly agent: () => Agent
  readonly definitions: readonly Definition[]
  readonly log: Pick<Log, 'warn'>
}

export const toolName = 'task'
/** The most sub-agents of one conversation that work at the same time. Further calls wait. */
export const runningLimit = 8
/** The most sub-agents that one conversation may have. A call for a further sub-agent returns an error to the model. */
export const totalLimit = 100

export function createTaskTool(options: TaskToolOptions): Tool {
  const definitions = options.definitions.filter((definition) => canServe(options.agent(), definition))
  const tasks = new Tasks({ ...options, definitions })
  const description = describeTool(definitions)
  const parameters = parametersFor(definitions)
  const annotations = {
    title: toolName, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true,
  }
  const definition = mcpToolDefinition(
    { name: toolName, description, inputSchema: parameters }, { description, annotations },
  )
  return {
    name: toolName,
    description,
    parameters,
    definition,
    isReadOnly: false,
    isConcurrent: true,
    read(args) {
      const task = readTask(args, definitions)
      return typeof task === 'string' ? { ok: false, problem: task } : { ok: true, action: actionFor(task) }
    },
    async run(action, call) {
      const task = readTask(actionOf(action, 'MCPToolAction').data, definitions)
      if (typeof task === 'string') throw new AppError('invalid_input', task)
      return tasks.run(task, call)
    },
    policyChanged: () => tasks.policyChanged(),
  }
}

function actionFor({ prompt, description, subagent, resume }: Task): { kind: 'MCPToolAction'; data: JsonObject } {
  return {
    kind: 'MCPToolAction',
    data: {
      prompt,
      ...(description === undefined ? {} : { description }),
      subagent_type: subagent,
      ...(resume === undefined ? {} : { resume }),
    },
  }
}

/** The tasks that the agent of one conversation gives. */
class Tasks {
  readonly #options: TaskToolOptions
  readonly #slots = new Limiter(runningLimit)
  /** Asks the sub-agents' questions one at a time: a message shows the action, and its question follows at once. */
  readonly #questions = new Limiter(1)
  /** The number of sub-agents' conversations that are being created. */
  #opening = 0
  /** The definitions of the sub-agents at work, by the id of their conversation. */
  readonly #running = new Map<string, Definition>()

  constructor(options: TaskToolOptions) {
    this.#options = options
  }

  run(task: Task, call: ToolRun): Promise<Observation> {
    return this.#slots.run(async () => {
      call.signal.throwIfAborted()
      const { turn } = call
      if (turn === undefined) throw new AppError('conflict', 'A task can only be given within a turn')
      try {
        const found = await this.#open(task, call)
        if (typeof found === 'string') return observation(found, true)
        return await this.#serve(task, found, call, turn)
      } catch (thrown) {
        call.signal.throwIfAborted()
        if (thrown instanceof AppError) return observation(`The task was not done: ${thrown.message}`, true)
        throw thrown
      }
    })
  }

  /**
   * Sets the changed confirmation policy in the running sub-agents. A failure is only logged, because the next run of
   * the sub-agent sets the policy.
   */
  policyChanged(): void {
    const { host, subConversations, log } = this.#options
    for (const [id, { permissionMode }] of this.#running) {
      const policy = toJsonObject(policyFor(host.policy(), permissionMode))
      subConversations.setPolicy(id, policy).catch((thrown: unknown) => {
        log.warn('A sub-agent did not get the changed confirmation policy', { task: id, error: asError(thrown) })
      })
    }
  }

  /** Creates the sub-agent's conversation, or finds the one to resume. On failure returns a text for the model. */
  async #open(task: Task, { signal }: ToolRun): Promise<Opened | string> {
    if (task.resume !== undefined) return this.#resumed(task.resume)
    const { host, agent, subConversations, definitions } = this.#options
    const definition = definitions.find(({ name }) => name === task.subagent)
    if (definition === undefined) return `There is no sub-agent "${task.subagent}"`
    if (await subConversations.count(host.conversationId) + this.#opening >= totalLimit) {
      return `This conversation has ${totalLimit} sub-agents, the most allowed: do the task yourself, or resume one`
    }
    this.#opening++
    const creating = subConversations.create(host.conversationId, {
      agent: subAgentOf(agent(), definition),
      policy: policyFor(host.policy(), definition.permissionMode),
      title: (task.description ?? task.prompt).trim().slice(0, 100) || definition.name,
      tags: { subagent: definition.name },
      maxIterations: definition.maxIterations ?? host.rules().maxIterations,
      budget: definition.maxBudget,
    }).finally(() => this.#opening--)
    return { id: await untilAborted(creating, signal), definition }
  }

  async #resumed(id: string): Promise<Opened | string> {
    const { host, conversations, definitions } = this.#options
    // An unreadable conversation counts as missing.
    const info = await conversations.info(id).catch(() => undefined)
    const { parent_conversation_id: parent, tags } = info ?? {}
    const name = isObject(tags) ? tags['subagent'] : undefined
    if (parent !== host.conversationId || name === undefined) return `There is no task "${id}" in this conversation`
    const definition = definitions.find((known) => known.name === name)
    return definition === undefined ? `There is no sub-agent "${String(name)}" any more` : { id, definition }
  }

  async #serve(task: Task, { id, definition }: Opened, call: ToolRun, turn: ToolTurn): Promise<Observation> {
    const { host, subConversations } = this.#options
    const { name, permissionMode } = definition
    if (this.#running.has(id)) return observation(`The task ${id} is at work already`, true)
    this.#running.set(id, definition)
    try {
      const analyzer = await subConversations.analyzerOf(host.conversationId)
      const end = await subConversations.run(id, {
        text: task.prompt,
        // Computed after the last `await`. Otherwise `run` could replace a newer policy, set by `policyChanged`.
        policy: toJsonObject(policyFor(host.policy(), permissionMode)),
        analyzer,
        signal: call.signal,
        pausing: turn.pausing,
        ask: (question, withdrawn) => this.#questions.run(() => {
          return askAbove(question, withdrawn, { call, turn, name, taskId: id, mask: host.mask })
        }),
        allowance: {
          takeStep: () => turn.takeStep(),
          budgetSpent: () => host.rules().budgetSpent,
          usage: ({ contextWindow: _window, perTurnTokens: _tokens, ...report }) => {
            turn.usage({ ...report, usageId: `task:${name}` })
          },
        },
      })
      return result(id, name, end)
    } finally {
      this.#running.delete(id)
    }
  }
}

interface Opened {
  readonly id: string
  readonly definition: Definition
}

function result(id: string, name: string, end: SubEnd): Observation {
  return observation(describeEnd(id, name, end), end.status !== 'finished')
}

function observation(text: string, isError: boolean): Observation {
  return { kind: 'MCPToolObservation', content: textContent(text), is_error: isError, tool_name: toolName }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
