/** Builds the `AgentHost` of a conversation: the values and functions that the agent of the conversation may use. */
import {
  isClientTool, isConfirmationPolicy, isSecurityAnalyzer, toClientTool, toConfirmationPolicy, toSecurityAnalyzer,
  type ConfirmationPolicy, type SecurityAnalyzer,
} from '../../schema/generated/conversations.ts'
import { isAgentDefinition, toAgentDefinition } from '../../schema/generated/agent-definitions.ts'
import type { MaskingStream } from '../../base/masking.ts'
import type { AgentRecords } from './agent-records.ts'
import type { AgentSecrets } from '../agent/secrets.ts'
import type { AgentHost, RunRules, SecretChange } from '../agent/host.ts'
import { readBranch } from '../log/branch.ts'
import type { EventReader } from '../log/event-reader.ts'
import type { Journal } from '../log/journal.ts'
import type { ConversationState } from '../log/state.ts'
import { toolCallIds } from '../log/tool-call-ids.ts'
import { readTranscript } from '../log/transcript.ts'

export interface HostOptions {
  readonly journal: Journal
  readonly events: EventReader
  readonly records: AgentRecords
  readonly secrets: AgentSecrets
  readonly directory: string
  readonly mask: (text: string) => string
  readonly createMaskingStream: () => MaskingStream
  readonly beginRun: () => Promise<void>
}

export function createHost(options: HostOptions): AgentHost {
  const { journal, events, records, secrets, directory, mask, createMaskingStream, beginRun } = options
  const { state } = journal
  return {
    conversationId: state.id,
    workingDir: state.working_dir,
    observationsDir: `${directory}/observations`,
    agentDir: `${directory}/acp`,
    hookConfig: state.hook_config,
    clientTools: state.client_tools.flatMap((tool) => (isClientTool(tool) ? [toClientTool(tool)] : [])),
    agentDefinitions: state.agent_definitions.flatMap((kept) => {
      return isAgentDefinition(kept) ? [toAgentDefinition(kept)] : []
    }),
    history: () => readBranch(events, () => journal.durable()),
    toolCallIds: async (limit) => {
      await journal.durable()
      return toolCallIds(events, limit)
    },
    settings: () => records.settings,
    rules: () => ({ ...rulesOf(state), budgetSpent: records.budgetSpent() }),
    takeStep: () => records.allowance?.takeStep() ?? true,
    policy: () => policyOf(state),
    secrets: (signal, wanted = () => true) => secrets.resolve(state.id, state.secrets, wanted, signal),
    ownSecretNames: () => new Set(Object.keys(state.secrets)),
    secretNames: () => secrets.list(state.secrets),
    replaceSecret: (change) => replaceSecret(change, options),
    beginRun,
    kept: (key) => records.kept(key),
    keep: (key, value) => records.keep(key, value),
    state: (changes) => records.publish(changes),
    skillInvoked: (name) => records.skillInvoked(name),
    mask,
    maskingStream: createMaskingStream,
    transcript: ({ limitBytes, upTo }) => {
      return readTranscript(events, { limitBytes, mask, without: new Set(upTo === 'served' ? state.unserved : []) })
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
  const { max_iterations, stuck_detection } = state
  return { maxIterations: max_iterations, stuckDetection: stuck_detection, analyzer: analyzerOf(state) }
}

/** Returns the stored analyzer; null if it is missing, or unknown to this version. */
function analyzerOf({ security_analyzer: stored }: Readonly<ConversationState>): SecurityAnalyzer | null {
  return isSecurityAnalyzer(stored) ? toSecurityAnalyzer(stored) : null
}

/** Returns the stored policy, or the strictest policy if this version does not know the stored policy. */
function policyOf({ confirmation_policy: stored }: Readonly<ConversationState>): ConfirmationPolicy {
  return isConfirmationPolicy(stored) ? toConfirmationPolicy(stored) : { kind: 'AlwaysConfirm' }
}
