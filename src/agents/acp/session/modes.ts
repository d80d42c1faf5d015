/**
 * Selects the session mode of an external agent by the confirmation policy (decisions 24). Pure.
 *
 * In its open mode an agent asks about little or nothing. In its asking mode it asks before most actions that change
 * something. A mode that the user or the settings name is preferred, unless it may skip a required question.
 */
import { memberAt, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { ConfirmationPolicy } from '../../../schema/generated/conversations.ts'
import { isOpenByName } from '../../../settings/open-modes.ts'
import type { ProviderModes } from '../../../settings/provider.ts'
import { flatOptions, optionOf } from './config-options.ts'

export interface SessionModes {
  readonly current: string | undefined
  readonly offered: readonly string[]
  /** The offered modes in the form of `agent_state.acp_available_modes`. */
  readonly available: readonly JsonObject[]
  /** The id of the config option for the mode; undefined for an agent with `session/set_mode` or without modes. */
  readonly configId: string | undefined
}

/** Tells which modes of a session ask the user, and which skip questions. */
export interface ModeRules {
  /** The mode that asks; undefined when no such mode is known. */
  readonly asking: string | undefined
  /** The mode that asks least; undefined when it is not known. */
  readonly open: string | undefined
  /** True for a mode in which the agent may skip a question that it would ask in the mode `asking`. */
  readonly isMoreOpen: (mode: string) => boolean
  /** Returns the first words of commands that the agent is trusted to run without a question in a mode; `*` for all. */
  readonly runsUnasked: (mode: string | undefined) => readonly string[]
}

/** Reads the modes from `modes`, or from the config option for the mode, in the result that opened a session. */
export function readModes(result: unknown): SessionModes {
  const listed = objectsOf(memberAt(result, 'modes', 'availableModes'))
  if (listed.length > 0) return modesOf(textOf(memberAt(result, 'modes', 'currentModeId')), listed, undefined)
  const option = optionOf('mode', result)
  if (option === undefined) return modesOf(undefined, [], undefined)
  const options = flatOptions(option['options'])
    .map(({ value, name, description }) => ({ id: value, name, description }))
  return modesOf(textOf(option['currentValue']), options, textOf(option['id']))
}

function modesOf(current: string | undefined, listed: readonly Fields[], configId: string | undefined): SessionModes {
  const offered = listed.flatMap(({ id }) => textOf(id) ?? [])
  return { current, offered, available: listed.flatMap(shownMode), configId }
}

function shownMode({ id, name, description }: Fields): readonly JsonObject[] {
  const mode_id = textOf(id)
  if (mode_id === undefined) return []
  return [{ mode_id, name: textOf(name) ?? null, description: textOf(description) ?? null }]
}

export function modeRequest(
  { configId }: SessionModes,
  sessionId: string,
  mode: string,
): { readonly method: string; readonly params: object } {
  if (configId === undefined) return { method: 'session/set_mode', params: { sessionId, modeId: mode } }
  return { method: 'session/set_config_option', params: { sessionId, configId, value: mode } }
}

/**
 * Returns the rules for an agent whose provider is known. `isMeasured`: the agent has the version with which `modes`
 * were tested. In another version every mode except `asking` and `closed` counts as more open than `asking`.
 */
export function providerRules(modes: ProviderModes, isMeasured: boolean): ModeRules {
  const { asking, open, moreOpen, closed = [], unasked = [] } = modes
  // `*` stands for every command, which the agent runs in a sandbox. Only the tested version is trusted to do so.
  const trusted = isMeasured ? unasked : unasked.filter((words) => words !== '*')
  const isMoreOpen = (mode: string): boolean =>
    isMeasured ? moreOpen.includes(mode) : mode !== asking && !closed.includes(mode)
  const runsUnasked = (mode: string | undefined): readonly string[] => {
    return mode !== undefined && isMoreOpen(mode) ? [] : trusted
  }
  return { asking, open, isMoreOpen, runsUnasked }
}

/**
 * Returns the rules for an agent without a provider. A mode counts as more open than `asking` if its id says so
 * (`isOpenByName`), or if the session began in another mode (`begunIn`).
 */
export function unknownAgentRules(begunIn: string | undefined): ModeRules {
  const isMoreOpen = (mode: string): boolean => (begunIn !== undefined && mode !== begunIn) || isOpenByName(mode)
  return { asking: begunIn, open: undefined, isMoreOpen, runsUnasked: () => [] }
}

export interface ModeChoice {
  readonly policy: ConfirmationPolicy
  /** The mode that the user or the setting `acp_session_mode` names. */
  readonly named: string | undefined
  readonly rules: ModeRules
  readonly offered: readonly string[]
}

/** Returns the first offered mode: `named` if it is not too open, then `open` under NeverConfirm, then `asking`. */
export function chooseMode({ policy, named, rules, offered }: ModeChoice): string | undefined {
  const isOpen = policy.kind === 'NeverConfirm'
  const allowed = isTooOpen(named, policy, rules) ? undefined : named
  const wanted = [allowed, isOpen ? rules.open : undefined, rules.asking]
  return wanted.find((mode) => mode !== undefined && offered.includes(mode))
}

/** True for a mode that may skip questions (`isMoreOpen`), unless the policy is NeverConfirm. */
export function isTooOpen(mode: string | undefined, policy: ConfirmationPolicy, rules: ModeRules): boolean {
  return policy.kind !== 'NeverConfirm' && mode !== undefined && rules.isMoreOpen(mode)
}
