/**
 * Starts an agent program, sends `initialize` and ends the program.
 *
 * No session is opened, so no model is called.
 */
import { messageOf } from '../../base/errors.ts'
import { silentLog } from '../../base/log.ts'
import { RpcClosedError } from '../../rpc/errors.ts'
import type { ChildOptions } from '../../process/child.ts'
import { AgentConnection, type StartProcess } from '../../agents/acp/session/connection.ts'
import { AcpFailure, withTail } from '../../agents/acp/session/failure.ts'
import { memberAt, objectOf, textOf } from '../../base/fields.ts'
import { initialize } from '../../agents/acp/session/initialize.ts'

export interface GreetOptions {
  /** How to start the agent program (`process/child`). */
  readonly program: ChildOptions
  readonly startProcess: StartProcess
  /** The version of this server. */
  readonly version: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface Greeting {
  readonly name: string
  readonly version: string
  /** The ids of the agent's authentication methods. */
  readonly authMethods: readonly string[]
}

/**
 * Starts the program and returns the description that the agent gives of itself in `initialize`.
 * @throws AppError when the program cannot be started or ended, AcpFailure when `initialize` fails; the signal's reason
 */
export async function greet({ program, startProcess, version, timeoutMs, signal }: GreetOptions): Promise<Greeting> {
  const agent = await startProcess(program)
  const connection = new AgentConnection({ program: agent, log: silentLog, mask: (text) => text })
  try {
    const request = (method: string, params: object): Promise<unknown> => {
      return connection.request(method, params, { timeoutMs, signal })
    }
    return readGreeting(await initialize(request, version))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const reason = error instanceof RpcClosedError ? await connection.over : messageOf(error)
    // The error quotes the end of stderr, which may arrive after the response on stdout. So wait for the program's end.
    await connection.close()
    throw withTail(new AcpFailure('ACPInitError', reason, error), connection.stderrTail())
  } finally {
    await connection.close()
  }
}

function readGreeting(result: unknown): Greeting {
  const methods = memberAt(result, 'authMethods')
  return {
    name: textOf(memberAt(result, 'agentInfo', 'name')) ?? 'unknown',
    version: textOf(memberAt(result, 'agentInfo', 'version')) ?? 'unknown',
    authMethods: Array.isArray(methods)
      ? methods.flatMap((method: unknown) => textOf(objectOf(method)['id']) ?? [])
      : [],
  }
}
