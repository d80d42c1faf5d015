/**
 * The six points at which the built-in agent runs hooks (contract/conversations.md, section 10).
 *
 * A session starts before the agent's first message or turn, and ends when the agent is closed. A hook can refuse a
 * message, an action or the end of a turn. It can also add a text for the model.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { untilAborted } from '../../base/wait.ts'
import type { HookHost, Hooks, ToolUse, ToolWord } from '../../agents/hooks.ts'
import { addedContent, blockedContent } from '../../conversation/log/blocked-message.ts'
import { textIn } from '../../conversation/log/message-text.ts'
import { isHookConfig, toHookConfig, type HookConfig } from '../../schema/generated/hooks.ts'
import type { Observation } from '../../schema/generated/observations.ts'
import type { Message, TextContent } from '../../schema/generated/values.ts'
import { HookRunner, type HookRunnerOptions } from './runner.ts'

export interface HookSessionOptions extends Pick<
  HookRunnerOptions,
  'env' | 'instance' | 'createId' | 'startProcess' | 'log'
> {
  readonly host: HookHost
}

/** The most times that hooks can object to the end of one turn. Later objections have no effect. */
const stopObjectionLimit = 10
/** The time limit, in milliseconds, for all hooks at the end of a session together. */
const sessionEndLimitMs = 5000

export class HookSession implements Hooks {
  readonly #runner: HookRunner
  readonly #log: Log
  readonly #closed = new AbortController()
  /** Resolves when the hooks that were queued so far, for the session's start or for a message, have ended. */
  #queue: Promise<unknown> = Promise.resolve()
  #hasBegun = false
  /** The texts for the model that hooks gave at the session's start. `takeOpening` empties the list. */
  #opening: readonly string[] = []
  #closing: Promise<void> | undefined

  constructor(options: HookSessionOptions) {
    const { host, env, instance, createId, startProcess, log } = options
    const { conversationId, workingDir, mask } = host
    const config = configOf(host)
    this.#runner = new HookRunner({
      config, conversationId, workingDir, mask, env, instance, createId, startProcess, log,
    })
    this.#log = log
  }

  /** Runs the hooks of the session's start, if they have not run yet. */
  async begin(signal: AbortSignal = this.#closed.signal): Promise<void> {
    if (this.#hasBegun) return
    await untilAborted(this.#queue, signal)
    await this.#enqueue(() => this.#begin(signal))
  }

  /** Returns the texts of the hooks at the session's start and forgets them; a second call returns none. */
  takeOpening(): readonly string[] {
    const opening = this.#opening
    this.#opening = []
    return opening
  }

  /**
   * Runs the hooks of the session's start, if they have not run yet, then the hooks for a user message. Returns texts
   * for the model: the opening texts (`takeOpening`), then the texts of the message's hooks. When a hook blocks the
   * message, returns only the hook's reason.
   */
  contextOf(message: Message): Promise<readonly TextContent[]> {
    return this.#enqueue(async () => {
      const { signal } = this.#closed
      await this.#begin(signal)
      const text = textIn(message.content)
      const outcome = await this.#runner.run({ point: 'UserPromptSubmit', message: text }, signal)
      if (outcome.blocked !== undefined) return [blockedContent(outcome.blocked)]
      return [...this.takeOpening(), ...outcome.contexts].map(addedContent)
    })
  }

  async beforeTool({ tool, action }: ToolUse, signal: AbortSignal): Promise<ToolWord> {
    const outcome = await this.#runner.run({ point: 'PreToolUse', toolName: tool, toolInput: action }, signal)
    return {
      refusal: outcome.blocked,
      notes: outcome.contexts.map((context) => `[PreToolUse hook context] ${context}`),
    }
  }

  /** Runs the hooks for a tool that has run. Returns their notes for the model, with the reason of a blocking hook. */
  async afterTool(
    { tool, action }: ToolUse, observation: Observation, signal: AbortSignal,
  ): Promise<readonly string[]> {
    const occasion = { point: 'PostToolUse', toolName: tool, toolInput: action, toolResponse: observation } as const
    const outcome = await this.#runner.run(occasion, signal)
    const notes = outcome.contexts.map((context) => `[PostToolUse hook context] ${context}`)
    return outcome.blocked === undefined ? notes : [...notes, `[PostToolUse hook feedback] ${outcome.blocked}`]
  }

  /** Returns why a turn must continue; undefined when it may end. `objections` counts earlier objections to its end. */
  async objectionToStop(objections: number, signal: AbortSignal): Promise<string | undefined> {
    const { blocked } = await this.#runner.run({ point: 'Stop' }, signal)
    if (blocked === undefined) return undefined
    if (objections < stopObjectionLimit) return `[Stop hook feedback] ${blocked}`
    this.#log.warn(`The objection of a Stop hook has no effect: hooks objected ${stopObjectionLimit} times before`)
    return undefined
  }

  /** Ends the background hooks that were started with the signal of the turn. */
  endTurn(turn: AbortSignal): Promise<void> {
    return this.#runner.endBeside(turn)
  }

  /**
   * Aborts the queued hooks that belong to no turn, and waits until all queued hooks have ended. A session that has
   * started then runs the hooks of its end, for at most about 5 s. At last, background hooks are ended. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed.abort(new AppError('conflict', 'The conversation is being closed or deleted'))
    await this.#queue
    if (this.#hasBegun) await this.#end()
    await this.#runner.endBeside()
  }

  async #end(): Promise<void> {
    const limit = new AbortController()
    const timer = setTimeout(
      () => limit.abort(new Error(`they did not end within ${sessionEndLimitMs} ms`)), sessionEndLimitMs,
    )
    try {
      await this.#runner.run({ point: 'SessionEnd' }, limit.signal)
      await untilAborted(this.#runner.settled(), limit.signal)
    } catch (thrown) {
      this.#log.warn('The hooks at the end of a session failed or took too long', { error: errorOf(thrown) })
    } finally {
      clearTimeout(timer)
    }
  }

  async #begin(signal: AbortSignal): Promise<void> {
    if (this.#hasBegun) return
    const { contexts } = await this.#runner.run({ point: 'SessionStart' }, signal)
    this.#opening = contexts
    this.#hasBegun = true
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined) // The caller gets the error from `done`.
    return done
  }
}

function configOf({ hookConfig }: Pick<HookHost, 'hookConfig'>): HookConfig {
  const stored = hookConfig ?? {}
  if (!isHookConfig(stored)) throw new TypeError('The stored hooks do not fit their schema')
  return toHookConfig(stored)
}
