/**
 * Which session mode an agent should be in (decisions, 24). Pure.
 *
 * NeverConfirm uses the open mode where the agent offers it (Claude does not as root, Gemini refuses it in a folder it does
 * not trust), else the asking mode, whose questions are then answered with allow-once. Every other policy uses the asking
 * mode. A mode that the settings name is kept unless it is more open than the policy. Of an agent that is in no table only
 * the named mode is known.
 */
import type { JsonObject } from '../../base/json.ts'
import type { ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import { detectByAgentName } from '../../settings/providers.ts'
import type { Provider, ProviderModes } from '../../settings/provider.ts'
import { demoAgentName, demoModes } from '../demo/modes.ts'
import { memberAt, objectsOf, textOf, type Fields } from '../../base/fields.ts'

export interface SessionModes {
  readonly current: string | undefined
  readonly offered: readonly string[]
  /** As `agent_state.acp_available_modes` shows them. */
  readonly available: readonly JsonObject[]
}

/** Reads `modes` of a session's answer. */
export function readModes(result: unknown): SessionModes {
  const listed = objectsOf(memberAt(result, 'modes', 'availableModes'))
  return {
    current: textOf(memberAt(result, 'modes', 'currentModeId')),
    offered: listed.flatMap(({ id }) => textOf(id) ?? []),
    available: listed.flatMap(shownMode),
  }
}

function shownMode({ id, name, description }: Fields): readonly JsonObject[] {
  const mode_id = textOf(id)
  return mode_id === undefined ? [] : [{ mode_id, name: textOf(name) ?? null, description: textOf(description) ?? null }]
}

/** The modes of the agent that introduces itself by this name. */
export function knownModes(agentName: string, providers: readonly Provider[]): ProviderModes | undefined {
  return agentName === demoAgentName ? demoModes : detectByAgentName(agentName, providers)?.modes
}

export interface ModeChoice {
  readonly policy: ConfirmationPolicy
  /** `acp_session_mode` */
  readonly named: string | undefined
  readonly known: ProviderModes | undefined
  readonly offered: readonly string[]
}

/** The mode to be in, or undefined when the agent offers none that fits. */
export function chooseMode({ policy, named, known, offered }: ModeChoice): string | undefined {
  const isOpen = policy.kind === 'NeverConfirm'
  const allowed = named !== undefined && (isOpen || !isMoreOpen(named, known)) ? named : undefined
  const wanted = [allowed, isOpen ? known?.open : undefined, known?.asking]
  return wanted.find((mode) => mode !== undefined && offered.includes(mode))
}

/** True for a mode that allows unasked what this policy wants to be asked about. */
export function isTooOpen(mode: string | undefined, policy: ConfirmationPolicy, known: ProviderModes | undefined): boolean {
  return policy.kind !== 'NeverConfirm' && mode !== undefined && isMoreOpen(mode, known)
}

function isMoreOpen(mode: string, known: ProviderModes | undefined): boolean {
  return known?.moreOpen.includes(mode) ?? false
}
