/**
 * REST handlers that examine the machine, list the agents and examine one agent.
 *
 * Listing the agents starts no program. Examining an agent can start its program, and then ends it.
 */
import { join } from 'node:path'
import { clientSignal, ok, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { makeTemporaryFolder, removeTree } from '../../base/own-files.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import type { Lent } from '../../part.ts'
import { listSecretNames } from '../../settings/secrets.ts'
import { describeAgent, examineAgent, type AgentExamination } from './agent.ts'
import { examineMachine } from './machine.ts'
import type { doctor } from './part.ts'

type Needs = Lent<typeof doctor>

export async function examineServer(core: Needs): Promise<HttpResponse> {
  const { config, sealingKeyOptions, environment, parts } = core
  return ok({ items: await examineMachine({ config, sealingKeyOptions, environment, parts }) })
}

export async function listAgents(core: Needs, call: Call): Promise<HttpResponse> {
  const { config, environment, providers } = core
  const [secretNames, signal] = [await secretNamesOf(core), clientSignal(call)]
  const items = await Promise.all(providers.map((provider) => {
    return describeAgent({ provider, config, environment, secretNames, workingDir: '', signal })
  }))
  return ok({ items })
}

/** Examines one agent in a temporary folder. @throws AppError `not_found` for an unknown provider */
export async function examineOne(core: Needs, call: Call): Promise<HttpResponse> {
  const { config, environment, providers, runtimeDir } = core
  const name = parameterOf(call.parameters, 'name')
  const provider = providers.find((one) => one.name === name)
  if (provider === undefined) throw new AppError('not_found', `There is no agent "${name}"`)
  const workingDir = await makeTemporaryFolder(join(runtimeDir, 'doctor-'))
  try {
    const secretNames = await secretNamesOf(core)
    const examination: AgentExamination = {
      provider, config, environment, secretNames, workingDir, signal: clientSignal(call),
    }
    const { finding, answers } = await examineAgent(examination)
    return ok({ ...finding, answers })
  } finally {
    await removeTree(workingDir)
  }
}

function secretNamesOf({ dataDir }: Needs): Promise<readonly string[]> {
  return listSecretNames(join(dataDir, 'secrets.json')).catch(() => []) // An unreadable file counts as empty.
}
