/**
 * Tries MCP servers outside any conversation: connects, lists the tools, and optionally calls one tool
 * (contract/others.md, section 6, `POST /api/mcp/test`).
 *
 * A failed trial has a result too, and only an abort is thrown. A result may contain the login, not sealed: the caller
 * seals it.
 */
import { AppError, maskedErrorOf, messageOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { createMasker } from '../../base/masking.ts'
import { RpcClosedError, RpcError, RpcTimeoutError } from '../../rpc/errors.ts'
import type { McpServer } from '../../schema/generated/settings.ts'
import { secretsToMask } from '../../settings/secret-fields.ts'
import type { Fields } from '../../base/fields.ts'
import type { McpClient } from './client.ts'
import { connectServer, type McpHost } from './connect.ts'
import { stateOf } from './oauth/login.ts'
import { resultText } from './result.ts'
import { planServer, type ServerPlan } from './server-plan.ts'

export interface Trial {
  readonly name: string
  readonly server: McpServer
  readonly timeoutMs: number
  readonly call: { readonly name: string; readonly args: JsonObject } | undefined
}

export type TrialResult =
  | { readonly ok: true; readonly tools: readonly string[]; readonly tool_result?: ToolResult; readonly login?: Fields }
  | { readonly ok: false; readonly error: string; readonly error_kind: 'timeout' | 'connection' | 'unknown' }

export interface ToolResult {
  readonly is_error: boolean
  readonly text: string
}

export interface McpTrials {
  /** Tries a server and returns the result. @throws the signal's reason, or AppError `unavailable` after `close` */
  run(trial: Trial, signal: AbortSignal): Promise<TrialResult>
  /** Ends running trials, and waits until they have ended. */
  close(): Promise<void>
}

export interface McpTrialsOptions {
  readonly host: McpHost
  /** The secrets that `${NAME}` in the settings may stand for, by name. */
  readonly secrets: () => Promise<ReadonlyMap<string, string>>
  readonly mask: (text: string) => string
  readonly log: Log
}

export function createMcpTrials(options: McpTrialsOptions): McpTrials {
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(trial, signal) {
      const work = runTrial(trial, options, AbortSignal.any([signal, stop.signal]))
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },
    async close() {
      stop.abort(new AppError('unavailable', 'The server is stopping'))
      await Promise.allSettled(running) // The caller of `run` gets the error.
    },
  }
}

async function runTrial(trial: Trial, options: McpTrialsOptions, signal: AbortSignal): Promise<TrialResult> {
  const masker = createMasker()
  masker.register(secretsToMask('McpServer', trial.server))
  const mask = (text: string): string => options.mask(masker.mask(text))
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new RpcTimeoutError(`The server took more than ${trial.timeoutMs} ms`)), trial.timeoutMs,
  )
  try {
    return await attempt(trial, options, mask, AbortSignal.any([signal, late.signal]))
  } catch (error) {
    signal.throwIfAborted()
    return { ok: false, error: mask(wordsOf(error)), error_kind: kindOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

type Mask = (text: string) => string

async function attempt(
  trial: Trial, { host, secrets, log }: McpTrialsOptions, mask: Mask, signal: AbortSignal,
): Promise<TrialResult> {
  const plan = planServer(trial.server, await secrets())
  const client = await connectServer({
    name: trial.name,
    plan,
    host,
    workingDir: '/',
    mask,
    onToolsChanged: ignore,
    onNoise: ignore,
    signal,
  })
  try {
    const tools = (await client.listTools(signal)).map(({ name }) => name)
    const result = await callTool(client, tools, trial, signal)
    const shown = result === undefined ? {} : { tool_result: { ...result, text: mask(result.text) } }
    return { ok: true, tools: tools.map(mask), ...shown, ...(await loginFor(trial, plan, host)) }
  } catch (error) {
    throw await client.explain(error)
  } finally {
    await client
      .close()
      .catch((error: unknown) => log.warn('An MCP server could not be ended', { error: maskedErrorOf(error, mask) }))
  }
}

/** Returns the newest login to the server as the member `login`; an empty object when there is none. */
async function loginFor({ name }: Trial, plan: ServerPlan, { logins }: McpHost): Promise<{ readonly login?: Fields }> {
  if (plan.type === 'stdio' || plan.oauth === undefined) return {}
  const login = await logins.find({ name, url: plan.url }, plan.oauth['state'])
  return login === undefined ? {} : { login: stateOf(login) }
}

async function callTool(
  client: McpClient, tools: readonly string[], { call, timeoutMs }: Trial, signal: AbortSignal,
): Promise<ToolResult | undefined> {
  if (call === undefined) return undefined
  const { name, args } = call
  if (!tools.includes(name)) {
    return { is_error: true, text: `The server has no tool "${name}". Available: ${tools.join(', ')}` }
  }
  try {
    const result = await client.callTool({ name, args, signal, silenceMs: timeoutMs })
    return { is_error: result['isError'] === true, text: resultText(result) }
  } catch (error) {
    if (error instanceof RpcError) return { is_error: true, text: error.message }
    throw error
  }
}

function kindOf(error: unknown): 'timeout' | 'connection' | 'unknown' {
  if (error instanceof RpcTimeoutError || (error instanceof AppError && error.code === 'upstream_timeout')) {
    return 'timeout'
  }
  return error instanceof AppError || error instanceof RpcClosedError ? 'connection' : 'unknown'
}

function wordsOf(error: unknown): string {
  return error instanceof RpcError ? `[${error.code}] ${error.message}` : messageOf(error)
}

function ignore(): void {}
