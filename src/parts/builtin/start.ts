/**
 * Starts the part `builtin`: the built-in agent, titles made by a model, and the route that tests a model's settings.
 */
import { hostname } from 'node:os'
import type { HostTool } from '../../agents/from-host.ts'
import { bodyOf, clientSignal, ok } from '../../api/call.ts'
import { profileNameOf } from '../../api/profiles.ts'
import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { TitleByProfile } from '../../conversation/agent/agent.ts'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { detectTerminalKind, type TerminalKind } from '../../process/pty.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import { ValidateProfileRequest } from './generated.ts'
import { plainLlm } from '../../settings/profiles.ts'
import { createBuiltInAgent, createModelWith, type BuiltInShared, type CreateModel } from './create.ts'
import { tryModel } from './trial.ts'
import { builtin } from './part.ts'
import { makeTitle } from './title.ts'

export async function start(core: Needs): Promise<Started<typeof builtin>> {
  const { config, vault, cipher } = core
  const { modelAnswerLimitBytes } = valuesOf(builtin.options, config)
  const limits = { limitBytes: modelAnswerLimitBytes, valueLimit: config.jsonValueLimit }
  const hostModels = core.offers('hostModels') ? await core.use('hostModels') : undefined
  const createModel = createModelWith(limits, core.log, hostModels)
  const hostTools = core.offers('hostTools') ? await core.use('hostTools') : []
  const sharedFor = sharedBy(core, createModel, hostTools)
  const handlers: Record<keyof typeof builtin.routes, PartHandler> = {
    async 'POST /api/profiles/{name}/validate'(call) {
      profileNameOf(call)
      const { llm } = bodyOf(call, ValidateProfileRequest)
      const plain = plainLlm({ llm, include_secrets: true }, cipher)
      return ok(await tryModel(plain, { createModel, signal: clientSignal(call) }))
    },
  }
  return {
    handlers,
    offers: {
      builtInAgent: {
        create(host, log) {
          const open = (sealed: JsonObject): AgentSettings => {
            const agent = vault.openAgent(host.conversationId, sealed)
            if (agent.kind === 'Agent') return agent
            throw new TypeError('A conversation of the built-in agent has been given another agent')
          }
          return createBuiltInAgent(host, open, sharedFor(log))
        },
        titleByProfile: (request) => titleByProfile(request, createModel, core),
      },
    },
  }
}

type Needs = Lent<typeof builtin>

function sharedBy(
  core: Needs, createModel: CreateModel, hostTools: readonly HostTool[],
): (log: Log) => BuiltInShared {
  const { config, environment, instanceId, secretFolder, cgroupParent, masker } = core
  let kind: Promise<TerminalKind> | undefined
  const trial = {
    cwd: '/',
    env: buildEnvironment({ server: environment }),
    marker: `${instanceId}/terminal-trial`,
    cgroupParent,
  }
  return (log) => ({
    createModel,
    hostTools,
    environment,
    passEnvironment: config.passEnv,
    privateDirs: core.privateDirs,
    cipher: core.cipher,
    makeSecretDir: () => secretFolder.make(),
    instanceId,
    cgroupParent,
    hostname: hostname(),
    platform: process.platform,
    terminalKind: () => (kind ??= detectTerminalKind(trial)),
    createMaskingStream: () => masker.stream(),
    use: core.use,
    clock: core.clock,
    log,
  })
}

/** Makes a title with a stored profile's model; undefined if the profile is missing, unusable or for the demo model. */
async function titleByProfile(
  { profile, text, signal }: Parameters<TitleByProfile>[0],
  createModel: CreateModel,
  { llmProfiles, masker, log }: Needs,
): ReturnType<TitleByProfile> {
  try {
    const llm = await llmProfiles.load(profile)
    return await makeTitle({ llm, text, signal, createModel, mask: (words) => masker.mask(words) })
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    log.warn('Cannot use the profile for titles', { profile, error: thrown })
    return undefined
  }
}
