/**
 * Starts an agent program as a session does, has it introduce itself, and ends it: what `agent-server doctor` asks for.
 *
 * No session is opened and no credentials are sent, so nothing is asked of a model. Afterwards nothing of it is left.
 */
import { messageOf } from '../../base/errors.ts'
import { silentLog } from '../../base/log.ts'
import { RpcClosedError } from '../../rpc/errors.ts'
import type { ChildOptions } from '../../process/child.ts'
import { AgentConnection, type StartProcess } from './connection.ts'
import { AcpFailure, withTail } from './failure.ts'
import { memberAt, objectOf, textOf } from '../../base/fields.ts'
import { initialize } from './initialize.ts'

export interface GreetOptions {
  /** See `process/child`. */
  readonly program: ChildOptions
  readonly startProcess: StartProcess
  /** Of this server. */
  readonly version: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface Greeting {
  readonly name: string
  readonly version: string
  /** The ids of the ways to sign in that it offers. */
  readonly authMethods: readonly string[]
}

/** @throws AppError or AcpFailure that says why it does not answer; the signal's reason. */
export async function greet({ program, startProcess, version, timeoutMs, signal }: GreetOptions): Promise<Greeting> {
  const connection = new AgentConnection({ program: await startProcess(program), log: silentLog, mask: (text) => text })
  try {
    const request = (method: string, params: object): Promise<unknown> => connection.request(method, params, { timeoutMs, signal })
    return readGreeting(await initialize(request, version))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const reason = error instanceof RpcClosedError ? await connection.over : messageOf(error)
    // What a program wrote to stderr may be read after its answer on stdout.
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
    authMethods: Array.isArray(methods) ? methods.flatMap((method: unknown) => textOf(objectOf(method).id) ?? []) : [],
  }
}
