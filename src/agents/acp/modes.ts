/**
 * The session mode that an agent should be in (decisions, 24). Pure.
 *
 * The provider that the settings chose decides what a mode allows; the name that an agent gives itself decides nothing,
 * since a wrapper gives another one. NeverConfirm uses the open mode where the agent offers it (Claude does not as root,
 * Gemini refuses it in a folder that it does not trust), else the asking mode, whose questions are then answered with
 * allow-once. Every other policy uses the asking mode. A mode that the settings name is kept unless it is more open than
 * the policy. Of an agent that is in no table one thing is known: the mode in which its session began. A policy that asks
 * keeps it there.
 */
import type { JsonObject } from '../../base/json.ts'
import type { ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import { isOpenByName } from '../../settings/open-modes.ts'
import type { ProviderModes } from '../../settings/provider.ts'
import { memberAt, objectsOf, textOf, type Fields } from '../../base/fields.ts'
import { flatOptions, optionOf } from './config-options.ts'

export interface SessionModes {
  readonly current: string | undefined
  readonly offered: readonly string[]
  /** As `agent_state.acp_available_modes` shows them. */
  readonly available: readonly JsonObject[]
  /** The id of the config option that is the mode; undefined for an agent that knows `session/set_mode`. */
  readonly configId: string | undefined
}

/** The rules by which the modes of a session are judged while the policy asks. */
export interface ModeRules {
  /** The mode that asks; undefined when none is known to. */
  readonly asking: string | undefined
  /** The mode that never asks; undefined when none is known. */
  readonly open: string | undefined
  /** True for a mode that may allow something unasked which the asking mode asks for. */
  readonly isMoreOpen: (mode: string) => boolean
  /** The commands that an agent in this mode runs without a question, as `ProviderModes.unasked`. */
  readonly runsUnasked: (mode: string | undefined) => readonly string[]
}

/** Reads the modes of a session's answer: `modes`, or else the config option of the category `mode`. */
export function readModes(result: unknown): SessionModes {
  const listed = objectsOf(memberAt(result, 'modes', 'availableModes'))
  if (listed.length > 0) return modesOf(textOf(memberAt(result, 'modes', 'currentModeId')), listed, undefined)
  const option = optionOf('mode', result)
  if (option === undefined) return modesOf(undefined, [], undefined)
  const options = flatOptions(option.options).map(({ value, name, description }) => ({ id: value, name, description }))
  return modesOf(textOf(option.currentValue), options, textOf(option.id))
}

function modesOf(current: string | undefined, listed: readonly Fields[], configId: string | undefined): SessionModes {
  const offered = listed.flatMap(({ id }) => textOf(id) ?? [])
  return { current, offered, available: listed.flatMap(shownMode), configId }
}

function shownMode({ id, name, description }: Fields): readonly JsonObject[] {
  const mode_id = textOf(id)
  return mode_id === undefined ? [] : [{ mode_id, name: textOf(name) ?? null, description: textOf(description) ?? null }]
}

/** The request that chooses a mode. */
export function modeRequest(
  { configId }: SessionModes,
  sessionId: string,
  mode: string,
): { readonly method: string; readonly params: object } {
  if (configId === undefined) return { method: 'session/set_mode', params: { sessionId, modeId: mode } }
  return { method: 'session/set_config_option', params: { sessionId, configId, value: mode } }
}

/**
 * The rules for an agent whose provider is known. `isMeasured`: the agent gave the name and version that the table was
 * made with. In any other agent each mode that the table does not know counts as more open.
 */
export function providerRules(modes: ProviderModes, isMeasured: boolean): ModeRules {
  const { asking, open, moreOpen, closed = [], unasked = [] } = modes
  // That a mode confines every command is known of the measured program only.
  const trusted = isMeasured ? unasked : unasked.filter((words) => words !== '*')
  const isMoreOpen = (mode: string): boolean =>
    isMeasured ? moreOpen.includes(mode) : mode !== asking && !closed.includes(mode)
  const runsUnasked = (mode: string | undefined): readonly string[] => (mode !== undefined && isMoreOpen(mode) ? [] : trusted)
  return { asking, open, isMoreOpen, runsUnasked }
}

/** The rules for an agent that is in no table. Undefined `begunIn`: it has no session yet, or no modes. */
export function unknownAgentRules(begunIn: string | undefined): ModeRules {
  const isMoreOpen = (mode: string): boolean => (begunIn !== undefined && mode !== begunIn) || isOpenByName(mode)
  return { asking: begunIn, open: undefined, isMoreOpen, runsUnasked: () => [] }
}

export interface ModeChoice {
  readonly policy: ConfirmationPolicy
  /** `acp_session_mode` */
  readonly named: string | undefined
  readonly rules: ModeRules
  readonly offered: readonly string[]
}

/** The mode to be in, or undefined when the agent offers none that fits. */
export function chooseMode({ policy, named, rules, offered }: ModeChoice): string | undefined {
  const isOpen = policy.kind === 'NeverConfirm'
  const allowed = isTooOpen(named, policy, rules) ? undefined : named
  const wanted = [allowed, isOpen ? rules.open : undefined, rules.asking]
  return wanted.find((mode) => mode !== undefined && offered.includes(mode))
}

/** True for a mode that allows unasked what this policy wants to be asked about. */
export function isTooOpen(mode: string | undefined, policy: ConfirmationPolicy, rules: ModeRules): boolean {
  return policy.kind !== 'NeverConfirm' && mode !== undefined && rules.isMoreOpen(mode)
}
