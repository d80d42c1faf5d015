/**
 * Opens a session with an MCP server as its plan (server-plan.ts) describes, and returns the connected client.
 *
 * An MCP server's program gets the usual environment of Agent Server's child processes (process/environment), and the
 * variables in the settings of the MCP server.
 */
import { assertNever } from '../../base/errors.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import { openClient, type McpClient } from './client.ts'
import { HttpTransport } from './http-transport.ts'
import type { Bearer, Logins } from './oauth/logins.ts'
import type { RemotePlan, ServerPlan, StdioPlan } from './server-plan.ts'
import { SseTransport } from './sse-transport.ts'
import { startStdioTransport, type StartServer } from './stdio-transport.ts'
import type { MessageLimits, Transport } from './transport.ts'

/** The dependencies that all MCP sessions share. */
export interface McpHost {
  /** The environment of this process. `buildEnvironment` chooses the variables that an MCP server's program gets. */
  readonly environment: Environment
  readonly passEnvironment: readonly string[]
  readonly instanceId: string
  readonly createId: () => string
  readonly startProcess: StartServer
  readonly version: string
  readonly logins: Pick<Logins, 'bearer' | 'find'>
  readonly messageLimits?: MessageLimits
}

export interface ConnectOptions {
  /** The server's name, under which its login is stored. */
  readonly name: string
  readonly plan: ServerPlan
  readonly host: McpHost
  readonly workingDir: string
  readonly mask: (text: string) => string
  /** Called when the list of tools has changed or may have changed. */
  readonly onToolsChanged: () => void
  readonly onNoise: (excerpt: string) => void
  readonly signal: AbortSignal
}

/**
 * Opens a session with the MCP server of `options.plan`. After an error, no connection is left, and no process except
 * one that cannot be killed. @throws AppError, the errors of `openClient`, or the signal's reason
 */
export async function connectServer(options: ConnectOptions): Promise<McpClient> {
  const { host, onToolsChanged, onNoise, signal } = options
  signal.throwIfAborted()
  const transport = await openTransport(options)
  return openClient({ transport, version: host.version, onToolsChanged, onNoise }, signal)
}

async function openTransport({
  name,
  plan,
  host,
  workingDir,
  mask,
  onToolsChanged,
}: ConnectOptions): Promise<Transport> {
  const limits = host.messageLimits
  switch (plan.type) {
    case 'stdio':
      return startStdioTransport({ start: host.startProcess, program: programOf(plan, host, workingDir), mask, limits })
    case 'http':
      return new HttpTransport({ ...plan, bearer: bearerOf(name, plan, host), onGap: onToolsChanged, limits })
    case 'sse':
      return new SseTransport({ ...plan, bearer: bearerOf(name, plan, host), limits })
    default:
      return assertNever(plan)
  }
}

function bearerOf(name: string, { url, oauth }: RemotePlan, { logins }: McpHost): Bearer | undefined {
  return oauth === undefined ? undefined : logins.bearer({ name, url }, oauth['state'])
}

function programOf(plan: StdioPlan, host: McpHost, workingDir: string): Parameters<StartServer>[0] {
  const { environment, passEnvironment, instanceId, createId } = host
  const usual = buildEnvironment({ server: environment, pass: passEnvironment })
  const { command, args, env, cwd = workingDir } = plan
  return { command, args, cwd, env: { ...usual, ...env }, marker: `${instanceId}/${createId()}` }
}
