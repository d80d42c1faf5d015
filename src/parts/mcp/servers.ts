/**
 * The MCP servers of one conversation: their current tools, and the state of each server.
 *
 * A step of the agent waits a limited time for the servers. A slower server's tools appear at a later step. A server
 * counts as failed if one of its tools has the name of another tool: of the agent, of the same server, or of an earlier
 * server.
 *
 * No state is published before the tools are first listed. Otherwise events about states could push the event that
 * lists the tools out of the first events of a conversation (contract/events.md, section 5).
 */
import { AppError, maskedErrorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/stamp.ts'
import { untilAborted } from '../../base/wait.ts'
import type { AgentHost } from '../../conversation/agent/host.ts'
import { isMcpTool, type McpTool } from '../../schema/generated/tools.ts'
import type { McpServer as ServerSettings } from '../../schema/generated/settings.ts'
import { cutDetail } from '../../agents/acp/session/failure.ts'
import { maskJson } from '../../base/mask-json.ts'
import type { Tool } from '../../agents/tool.ts'
import { connectServer, type McpHost } from './connect.ts'
import { transportOf, type McpTransport } from '../../settings/mcp-servers.ts'
import { callSilenceMs, planServer, secretsNamedBy } from './server-plan.ts'
import { McpServer, type CallTool, type ServerLimits, type ServerStatus } from './server.ts'
import { createMcpTool } from './tool.ts'

/** The state of a server in `agent_state.mcp_servers`, in the form that `acp_mcp_servers` has for external agents. */
export interface McpServerState {
  readonly name: string
  readonly type: McpTransport
  readonly status: ServerStatus | 'disabled'
  readonly detail?: string
}

export interface McpServersOptions {
  /** Settings by server name. If two servers list a tool with the same name, the later server counts as failed. */
  readonly settings: Readonly<Record<string, ServerSettings>>
  readonly conversation: Pick<AgentHost, 'workingDir' | 'secrets' | 'mask' | 'state'>
  readonly host: McpHost
  readonly limits: ServerLimits
  /** Returns the given tool names that the filter in the settings allows. */
  readonly filter: (names: readonly string[], signal: AbortSignal) => Promise<readonly string[]>
  readonly clock: Clock
  readonly log: Log
}

interface Entry {
  readonly name: string
  readonly type: McpTransport
  /** The server; undefined if it is disabled. */
  readonly server: McpServer | undefined
}

const noiseLogLimit = 20

export class McpServers {
  readonly #options: McpServersOptions
  readonly #taken: ReadonlySet<string>
  readonly #entries: readonly Entry[]
  #hasGiven = false
  #telling: NodeJS.Immediate | undefined

  /** @param taken the names of the tools that are already in the agent's tool set */
  constructor(options: McpServersOptions, taken: ReadonlySet<string>) {
    this.#options = options
    this.#taken = taken
    this.#entries = Object.entries(options.settings).map(([name, settings]) => {
      const server = settings.enabled ? this.#makeServer(name, settings) : undefined
      return { name, type: transportOf(settings), server }
    })
  }

  /**
   * Calls `ready` of each server and waits for all. Returns the tools that are usable then. @throws the signal's reason
   */
  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    await untilAborted(Promise.all(this.#entries.map(({ server }) => server?.ready())), signal)
    this.#hasGiven = true
    this.#publish()
    return this.#choose().tools
  }

  /** Ends all servers, and resolves when their programs and connections have ended. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.#hasGiven = false
    clearImmediate(this.#telling)
    await Promise.all(this.#entries.map(({ server }) => server?.close()))
  }

  #makeServer(name: string, settings: ServerSettings): McpServer {
    const { conversation, host, limits, clock, log } = this.#options
    const { mask, workingDir } = conversation
    let noise = 0
    const onNoise = (excerpt: string): void => {
      if (++noise <= noiseLogLimit) {
        log.debug('An MCP server sent something that is no message', { server: name, excerpt })
      }
    }
    return new McpServer({
      limits,
      clock,
      callSilenceMs: callSilenceMs(settings),
      connect: async (onToolsChanged, signal) => {
        const named = secretsNamedBy(settings)
        const secrets = named.size === 0
          ? new Map<string, string>()
          : await conversation.secrets(signal, (secret) => named.has(secret))
        return connectServer({
          name,
          plan: planServer(settings, secrets),
          host,
          workingDir,
          mask,
          onToolsChanged,
          onNoise,
          signal,
        })
      },
      makeTools: (listed, call, signal) => this.#makeTools(name, listed, call, signal),
      onChange: () => this.#publish(),
      onProblem: (error) =>
        log.warn('An MCP server failed outside of a call', { server: name, error: maskedErrorOf(error, mask) }),
    })
  }

  async #makeTools(
    serverName: string, listed: readonly McpTool[], call: CallTool, signal: AbortSignal,
  ): Promise<readonly Tool[]> {
    const { conversation, filter } = this.#options
    const tools = listed.map((entry) => createMcpTool({
      listed: withoutSecrets(entry, conversation.mask),
      serverName,
      call: (args, caller) => call(entry.name, args, caller),
    }))
    const kept = new Set(await filter(tools.map(({ name }) => name), signal))
    return tools.filter(({ name }) => kept.has(name))
  }

  /**
   * Returns the usable tools. A server whose tools include a taken name contributes no tool, and `clashes` has the
   * reason by server name.
   */
  #choose(): { readonly tools: readonly Tool[]; readonly clashes: ReadonlyMap<string, string> } {
    const taken = new Set(this.#taken)
    const clashes = new Map<string, string>()
    const tools = this.#entries.flatMap(({ name, server }) => {
      const own = server?.tools ?? []
      const clash = firstClash(own, taken)
      if (clash !== undefined) {
        clashes.set(name, `Cannot use its tools: the name "${clash}" is taken`)
        return []
      }
      for (const tool of own) taken.add(tool.name)
      return own
    })
    return { tools, clashes }
  }

  #publish(): void {
    if (!this.#hasGiven || this.#telling !== undefined) return
    this.#telling = setImmediate(() => {
      this.#telling = undefined
      this.#tell()
    })
  }

  #tell(): void {
    const { mask, state } = this.#options.conversation
    const { clashes } = this.#choose()
    const states = this.#entries.map(({ name, type, server }): McpServerState => {
      const clash = clashes.get(name)
      if (clash !== undefined) return { name, type, status: 'failed', detail: clash }
      const detail = server?.detail
      return {
        name,
        type,
        status: server?.status ?? 'disabled',
        ...(detail === undefined ? {} : { detail: cutDetail(mask(detail)) }),
      }
    })
    state({ mcp_servers: states.map((one) => ({ ...one })) })
  }
}

function firstClash(tools: readonly Tool[], taken: ReadonlySet<string>): string | undefined {
  const names = tools.map(({ name }) => name)
  return names.find((name, place) => taken.has(name) || names.indexOf(name) < place)
}

/**
 * Returns a copy of a tool's listing with masked texts, because the server may have repeated secrets in it.
 * @throws AppError `upstream_failed` when the masked listing is not valid
 */
function withoutSecrets(listed: McpTool, mask: (text: string) => string): McpTool {
  const masked = maskJson(listed, mask)
  if (isMcpTool(masked)) return masked
  throw new AppError('upstream_failed', 'The server names a secret in the description of a tool')
}
