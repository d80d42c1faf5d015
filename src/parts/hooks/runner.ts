/**
 * Runs the hooks of one conversation. At each point of the agent's work, the matching hooks run in order until one
 * blocks.
 *
 * A failed hook is logged and blocks nothing. An `async` hook runs in the background and cannot block. Hooks of the
 * types `prompt` and `agent` are not run.
 */
import { maskedErrorOf, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { hookPoints, type HookPoint } from '../../conversation/agent/hook-config.ts'
import type { Child, ChildOptions } from '../../process/child.ts'
import type { CommandHook, HookConfig, HookDefinition } from '../../schema/generated/hooks.ts'
import { readAnswer, type HookAnswer } from './answer.ts'
import { runCommand } from './command.ts'
import { createMatching, type Matches } from './matching.ts'

export interface HookRunnerOptions {
  readonly config: HookConfig
  readonly conversationId: string
  readonly workingDir: string
  readonly mask: (text: string) => string
  /** The environment of every hook. The variables `OPENHANDS_...` are added for each run. */
  readonly env: Readonly<Record<string, string>>
  /** The instance id of the data folder: the first part of the environment variable that marks processes. */
  readonly instance: string
  /** Makes a unique id for each run of a hook: the last part of the environment variable that marks processes. */
  readonly createId: () => string
  readonly startProcess: (options: ChildOptions) => Promise<Child>
  readonly log: Log
}

/** A point in the agent's work, with the values that its hooks get. */
export interface Occasion {
  readonly point: HookPoint
  readonly toolName?: string
  readonly toolInput?: unknown
  readonly toolResponse?: unknown
  readonly message?: string
}

export interface Outcome {
  /** The reason in the answer of the blocking hook; undefined when no hook blocks. */
  readonly blocked: string | undefined
  /** The texts of hooks for the model; empty when no hook gives a text. */
  readonly contexts: readonly string[]
}

/** The most background hooks of a conversation at the same time. A further hook is not run, and the log says so. */
const backgroundLimit = 16

interface Job {
  readonly owner: AbortSignal
  readonly controller: AbortController
  readonly done: Promise<unknown>
}

export class HookRunner {
  readonly #options: HookRunnerOptions
  readonly #matches: Matches
  /** The background hooks that still run. */
  readonly #background = new Set<Job>()
  #hasToldOfTypes = false

  constructor(options: HookRunnerOptions) {
    this.#options = options
    this.#matches = createMatching(options.log)
  }

  /** Runs a point's matching hooks until one blocks. @throws the signal's reason, after the running hook was stopped */
  async run(occasion: Occasion, signal: AbortSignal): Promise<Outcome> {
    const contexts: string[] = []
    for (const { matcher, hooks } of this.#options.config[hookPoints[occasion.point]]) {
      if (!(await this.#matches(matcher, occasion.toolName ?? null, signal))) continue
      for (const hook of hooks) {
        signal.throwIfAborted()
        const answer = await this.#runOne(hook, occasion, signal)
        if (answer?.type === 'blocked') return { blocked: answer.reason, contexts }
        if (answer?.type === 'passed' && answer.context !== undefined) contexts.push(answer.context)
      }
    }
    return { blocked: undefined, contexts }
  }

  /** Waits until all background hooks that run now have ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#background].map(({ done }) => done))
  }

  /** Ends the background hooks that were started with the signal `owner`; without `owner`, all background hooks. */
  async endBeside(owner?: AbortSignal): Promise<void> {
    const jobs = [...this.#background].filter((job) => owner === undefined || job.owner === owner)
    for (const { controller } of jobs) controller.abort(new Error('The hook was ended'))
    await Promise.all(jobs.map(({ done }) => done))
  }

  async #runOne(hook: HookDefinition, occasion: Occasion, signal: AbortSignal): Promise<HookAnswer | undefined> {
    if (hook.type !== 'command') return this.#tellOfType(hook.type)
    if (!hook.async) return this.#execute(hook, occasion, signal)
    this.#startBeside(hook, occasion, signal)
    return undefined
  }

  #startBeside(hook: CommandHook, occasion: Occasion, owner: AbortSignal): void {
    if (this.#background.size >= backgroundLimit) {
      this.#options.log.warn(`A hook was not run: ${backgroundLimit} are running in the background already`, {
        point: occasion.point,
      })
      return
    }
    const controller = new AbortController()
    // `#execute` logs a failed hook, and rejects only when the job is aborted.
    const done = this.#execute(hook, occasion, controller.signal).catch(() => undefined)
    const job: Job = { owner, controller, done }
    this.#background.add(job)
    void done.then(() => this.#background.delete(job))
  }

  async #execute(hook: CommandHook, occasion: Occasion, signal: AbortSignal): Promise<HookAnswer> {
    const answer = await this.#answerOf(hook, occasion, signal)
    if (answer.type === 'failed') {
      const { log, mask } = this.#options
      log.warn('A hook failed', {
        point: occasion.point,
        hook: mask(hook.name ?? hook.command).slice(0, 100),
        problem: answer.problem,
        error: answer.error === undefined ? undefined : maskedErrorOf(answer.error, mask),
      })
    }
    return answer
  }

  async #answerOf(hook: CommandHook, occasion: Occasion, signal: AbortSignal): Promise<HookAnswer> {
    const { workingDir: cwd, mask, instance, createId, startProcess } = this.#options
    const marker = `${instance}/hook-${createId()}`
    const env = { ...this.#options.env, ...this.#variables(occasion) }
    const input = JSON.stringify(this.#inputOf(occasion))
    try {
      const end = await runCommand({
        command: hook.command,
        cwd,
        env,
        marker,
        input,
        timeoutMs: hook.timeout * 1000,
        signal,
        startProcess,
      })
      return readAnswer(end, mask)
    } catch (thrown) {
      signal.throwIfAborted()
      return { type: 'failed', problem: messageOf(thrown), error: thrown }
    }
  }

  #variables({ point, toolName }: Occasion): Record<string, string> {
    const { conversationId, workingDir } = this.#options
    return {
      OPENHANDS_PROJECT_DIR: workingDir,
      OPENHANDS_SESSION_ID: conversationId,
      OPENHANDS_EVENT_TYPE: point,
      ...(toolName === undefined ? {} : { OPENHANDS_TOOL_NAME: toolName }),
    }
  }

  #inputOf({ point, toolName, toolInput, toolResponse, message }: Occasion): object {
    const { conversationId, workingDir } = this.#options
    return {
      event_type: point,
      tool_name: toolName ?? null,
      tool_input: toolInput ?? null,
      tool_response: toolResponse ?? null,
      message: message ?? null,
      session_id: conversationId,
      working_dir: workingDir,
      metadata: {},
    }
  }

  #tellOfType(type: string): undefined {
    if (!this.#hasToldOfTypes) this.#options.log.warn('Hooks of other types than "command" are not run', { type })
    this.#hasToldOfTypes = true
  }
}
