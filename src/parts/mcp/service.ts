/**
 * The operations on MCP servers outside conversations: a trial of a server, and sign-ins (contract/others.md, section
 * 6).
 *
 * A login is returned sealed, so that a client can put it into the settings (`auth.state`) without seeing a token.
 */
import { AppError } from '../../base/errors.ts'
import { toJsonObject } from '../../base/json.ts'
import type { McpOAuthStart, McpOAuthStatus, McpTestRequest, McpTestResult } from './generated.ts'
import { readMcpServer, sealMcpState } from '../../settings/agent-settings.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { SignIns, type SignInsOptions } from './sign-ins.ts'
import { transportOf } from '../../settings/mcp-servers.ts'
import { createMcpTrials, type McpTrialsOptions, type Trial, type TrialResult } from './trials.ts'

export interface McpService {
  /** Tries a server. @throws AppError `invalid_input`, `unavailable` after `close`, or the signal's reason */
  test(request: McpTestRequest, signal: AbortSignal): Promise<McpTestResult>
  /**
   * Starts a sign-in. Returns its id, with the address for the browser or the reason of a failure.
   * @throws AppError `invalid_input`, `bad_request` for a server without OAuth, `unavailable`
   */
  startSignIn(request: McpTestRequest): Promise<McpOAuthStart>
  /** Returns the state of a sign-in. @throws AppError `not_found` */
  signIn(id: string): McpOAuthStatus
  /**
   * Gives a sign-in the address to which the authorization server sent the browser.
   * @throws AppError `not_found`, `conflict`, `bad_request`
   */
  takeAddress(id: string, address: string): McpOAuthStatus
  /** Gives an authorization response to the waiting sign-in with the same `state`. Returns false if there is none. */
  takeAnswer(answer: URLSearchParams): boolean
  /**
   * Forgets the logins of servers with this name.
   * @throws AppError `not_found`, `storage_failed`, `storage_full`, `settings_unreadable`
   */
  signOut(name: string): Promise<void>
  /** Ends all sign-ins and running trials, and waits until they have ended. */
  close(): Promise<void>
}

export type McpServiceOptions = McpTrialsOptions & Omit<SignInsOptions, 'trials'> & { readonly cipher: Cipher }

export function createMcpService(options: McpServiceOptions): McpService {
  const { cipher, logins, secrets, redirectUri, mask, createId, random, clock, lifeMs } = options
  const trials = createMcpTrials(options)
  const signIns = new SignIns({ logins, trials, secrets, redirectUri, mask, createId, random, clock, lifeMs })
  const show = (result: TrialResult): McpTestResult => {
    if (!result.ok) return result
    const { login, ...rest } = result
    return login === undefined ? rest : { ...rest, oauth_state: sealMcpState(login, cipher) }
  }
  const status = (id: string): McpOAuthStatus => {
    const { status: word, authorizationUrl, isWaiting, result } = signIns.status(id)
    return {
      ok: true,
      ...(result === undefined ? {} : show(result)),
      status: word,
      job_id: id,
      callback_ready: isWaiting,
      ...(authorizationUrl === undefined ? {} : { authorization_url: authorizationUrl }),
    }
  }
  return {
    test: async (request, signal) => show(await trials.run(trialOf(request, cipher), signal)),
    async startSignIn(request) {
      const trial = trialOf(request, cipher)
      if (transportOf(trial.server) === 'stdio' || trial.server.auth?.strategy !== 'oauth2') {
        throw new AppError(
          'bad_request', 'Cannot sign in to the server: expected an address, and auth with the strategy "oauth2"',
        )
      }
      const id = await signIns.start(trial)
      const { result, authorizationUrl } = signIns.status(id)
      if (result?.ok === false) return { ok: false, job_id: id, error: result.error, error_kind: result.error_kind }
      return {
        ok: true,
        job_id: id,
        ...(authorizationUrl === undefined ? {} : { authorization_url: authorizationUrl }),
      }
    },
    signIn: status,
    takeAddress(id, address) {
      signIns.takeAddress(id, address)
      return status(id)
    },
    takeAnswer: (answer) => signIns.takeAnswer(answer),
    async signOut(name) {
      if (!await logins.forget(name)) throw new AppError('not_found', 'There is no login to a server of this name')
    },
    async close() {
      await signIns.close()
      await trials.close()
    },
  }
}

function trialOf({ name, server, timeout, tool_call: call }: McpTestRequest, cipher: Cipher): Trial {
  return {
    name,
    server: readMcpServer(server, cipher),
    timeoutMs: Math.ceil(timeout * 1000),
    call: call === undefined ? undefined : { name: call.name, args: toJsonObject(call.arguments) },
  }
}
