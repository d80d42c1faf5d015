/**
 * Builds the `AgentHost` of a conversation from its journal, its log and its secrets.
 *
 * The newest settings and the newest kept state, durable or not, come from the driver.
 */
import {
  isClientTool, isConfirmationPolicy, toClientTool, toConfirmationPolicy, type ConfirmationPolicy,
} from '../schema/generated/conversations.ts'
import type { MaskingStream } from '../base/masking.ts'
import type { ConversationLog } from '../storage/log.ts'
import type { AgentSecrets } from './agent-secrets.ts'
import type { AgentHost, RunRules, SecretChange } from './agent.ts'
import { readBranch } from './branch.ts'
import type { Journal } from './journal.ts'
import type { ConversationState } from './state.ts'
import { toolCallIds } from './tool-call-ids.ts'
import { readTranscript } from './transcript.ts'

type FromDriver = 'observationsDir' | 'agentDir' | 'settings' | 'beginRun' | 'kept' | 'keep' | 'state' | 'skillInvoked'

export interface HostOptions extends Pick<AgentHost, FromDriver | 'mask'> {
  readonly journal: Journal
  readonly log: ConversationLog
  readonly secrets: AgentSecrets
  readonly createMaskingStream: () => MaskingStream
  /** Why no more may be spent; undefined while more may be spent. */
  readonly budgetSpent: () => string | undefined
}

export function createHost(options: HostOptions): AgentHost {
  const { journal, log, secrets, observationsDir, agentDir, settings, kept, keep, mask, createMaskingStream } = options
  const { state } = journal
  return {
    conversationId: state.id,
    workingDir: state.working_dir,
    observationsDir,
    agentDir,
    hookConfig: state.hook_config,
    clientTools: state.client_tools.flatMap((tool) => (isClientTool(tool) ? [toClientTool(tool)] : [])),
    history: () => readBranch(log, () => journal.durable()),
    toolCallIds: async (limit) => {
      await journal.durable()
      return toolCallIds(log, limit)
    },
    settings,
    rules: () => ({ ...rulesOf(state), budgetSpent: options.budgetSpent() }),
    policy: () => policyOf(state),
    secrets: (signal, wanted = () => true) => secrets.resolve(state.id, state.secrets, wanted, signal),
    ownSecretNames: () => new Set(Object.keys(state.secrets)),
    secretNames: () => secrets.list(state.secrets),
    replaceSecret: (change) => replaceSecret(change, options),
    beginRun: options.beginRun,
    kept,
    keep,
    state: options.state,
    skillInvoked: options.skillInvoked,
    mask,
    maskingStream: createMaskingStream,
    transcript: ({ limitBytes, upTo }) => {
      return readTranscript(log, { limitBytes, mask, without: new Set(upTo === 'served' ? state.unserved : []) })
    },
  }
}

async function replaceSecret(change: SecretChange, { journal, secrets }: HostOptions): Promise<boolean> {
  const result = await secrets.replace(journal.state.id, journal.state.secrets, change)
  if (typeof result === 'boolean') return result
  journal.keep(['secrets', result])
  await journal.durable()
  return true
}

function rulesOf(state: Readonly<ConversationState>): Omit<RunRules, 'budgetSpent'> {
  const { max_iterations, stuck_detection, security_analyzer } = state
  return { maxIterations: max_iterations, stuckDetection: stuck_detection, hasAnalyzer: security_analyzer !== null }
}

/** Returns the stored policy. An unknown policy, written by a later version, becomes the strictest. */
function policyOf({ confirmation_policy: stored }: Readonly<ConversationState>): ConfirmationPolicy {
  return isConfirmationPolicy(stored) ? toConfirmationPolicy(stored) : { kind: 'AlwaysConfirm' }
}
