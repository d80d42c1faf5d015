/**
 * Turns the events of a conversation into the items that the page shows, without drawing them.
 *
 * A result is put into the item of its action. Adjacent actions of one model response form one item.
 */
import { isObject, type Members, objectAt, textAt } from '../values.ts'
import { charsIn, optionalText } from './fields.ts'

export interface StoredEvent {
  readonly id: string
  readonly kind: string
  readonly timestamp: string
  readonly source: string
  readonly body: Members
  /** An estimate of the event's memory, in characters (`charsIn`). */
  readonly size: number
}

export interface Call {
  readonly action: StoredEvent
  readonly result: StoredEvent | undefined
}

export type CallStatus = 'open' | 'done' | 'failed' | 'rejected' | 'blocked' | 'cancelled'

interface Common {
  /** The id of the first event of the item. */
  readonly key: string
  readonly event: StoredEvent
}

export type Item =
  | Common & { readonly type: 'message' }
  | Common & { readonly type: 'calls'; readonly calls: readonly Call[] }
  /** A result without its action, for example because the action is not in the window of events. */
  | Common & { readonly type: 'result' }
  | Common & { readonly type: 'error'; readonly code: string; readonly detail: string }
  /** A change of the conversation. With `isQuiet`, the note is only for people who build clients. */
  | Common & { readonly type: 'note'; readonly text: string; readonly isQuiet: boolean }
  | Common & { readonly type: 'unknown' }

/** Returns the event that a JSON value describes; undefined for a value without `id` or `kind`. */
export function readEvent(value: unknown): StoredEvent | undefined {
  if (!isObject(value)) return undefined
  const [id, kind] = [textAt(value, 'id'), textAt(value, 'kind')]
  if (id === '' || kind === '') return undefined
  const [timestamp, source] = [textAt(value, 'timestamp'), textAt(value, 'source')]
  return { id, kind, timestamp, source, body: value, size: charsIn(value) }
}

export class Timeline {
  #items: Item[] = []
  /** The index of the item that contains an action, by the id of the event of the action. */
  readonly #byAction = new Map<string, number>()
  /** The ids of actions without a result, by the ids of their tool calls. */
  readonly #openCalls = new Map<string, string>()
  /** The index of the last item that is not a quiet note (`isQuiet`); -1 when there is none. */
  #last = -1

  get items(): readonly Item[] {
    return this.#items
  }

  /** Replaces all items by the items of these events. */
  reset(events: readonly StoredEvent[]): void {
    this.#items = []
    this.#byAction.clear()
    this.#openCalls.clear()
    this.#last = -1
    for (const event of events) this.append(event)
  }

  /** Adds the next event. Returns the item that is new or has changed. */
  append(event: StoredEvent): Item {
    switch (event.kind) {
      case 'ActionEvent': return this.#action(event)
      case 'ObservationEvent':
      case 'UserRejectObservation':
      case 'AgentErrorEvent': return this.#result(event)
      default: return this.#push(itemOf(event))
    }
  }

  #push(item: Item): Item {
    this.#items.push(item)
    if (item.type !== 'note' || !item.isQuiet) this.#last = this.#items.length - 1
    return item
  }

  #action(event: StoredEvent): Item {
    const callId = textAt(event.body, 'tool_call_id')
    if (callId !== '') this.#openCalls.set(callId, event.id)
    const call: Call = { action: event, result: undefined }
    const last = this.#items[this.#last]
    const response = textAt(event.body, 'llm_response_id')
    const belongs = last?.type === 'calls' && response !== '' && textAt(last.event.body, 'llm_response_id') === response
    if (!belongs) {
      this.#byAction.set(event.id, this.#items.length)
      return this.#push({ type: 'calls', key: event.id, event, calls: [call] })
    }
    this.#byAction.set(event.id, this.#last)
    return this.#replace(this.#last, { ...last, calls: [...last.calls, call] })
  }

  #result(event: StoredEvent): Item {
    const callId = textAt(event.body, 'tool_call_id')
    const actionId = optionalText(event.body, 'action_id') ?? this.#openCalls.get(callId) ?? ''
    const index = this.#byAction.get(actionId) ?? this.#byAction.get(this.#openCalls.get(callId) ?? '') ?? -1
    const item = this.#items[index]
    if (item?.type !== 'calls') return this.#push({ type: 'result', key: event.id, event })
    const at = item.calls.findIndex(({ action, result }) => result === undefined && belongsTo(event, action))
    if (at < 0) return this.#push({ type: 'result', key: event.id, event })
    if (this.#openCalls.get(callId) === item.calls[at]?.action.id) this.#openCalls.delete(callId)
    const calls = item.calls.map((call, place) => (place === at ? { ...call, result: event } : call))
    return this.#replace(index, { ...item, calls })
  }

  #replace(index: number, item: Item): Item {
    this.#items[index] = item
    return item
  }
}

function belongsTo(result: StoredEvent, action: StoredEvent): boolean {
  const actionId = optionalText(result.body, 'action_id')
  if (actionId !== undefined) return actionId === action.id
  return textAt(result.body, 'tool_call_id') === textAt(action.body, 'tool_call_id')
}

/** Returns a text that changes when the item has to be drawn again. */
export function signatureOf(item: Item): string {
  if (item.type !== 'calls') return item.type
  return item.calls.map(({ action, result }) => `${action.id}:${result?.id ?? ''}`).join(' ')
}

/** Returns the status of a call, by its result; `open` without a result. */
export function statusOf({ result }: Call): CallStatus {
  if (result === undefined) return 'open'
  const { kind, body } = result
  if (kind === 'UserRejectObservation') return textAt(body, 'rejection_source') === 'hook' ? 'blocked' : 'rejected'
  if (kind === 'AgentErrorEvent') {
    return /^(?:Cancelled\b|The action was cancelled)/.test(textAt(body, 'error')) ? 'cancelled' : 'failed'
  }
  const observation = objectAt(body, 'observation')
  const code = observation['exit_code']
  const isFailure = observation['is_error'] === true || (typeof code === 'number' && code > 0)
  return isFailure ? 'failed' : 'done'
}

/** Returns the milliseconds from an action to its result; undefined without a result or a readable time. */
export function durationOf({ action, result }: Call): number | undefined {
  const time = result === undefined ? Number.NaN : Date.parse(result.timestamp) - Date.parse(action.timestamp)
  return Number.isNaN(time) ? undefined : Math.max(0, time)
}

function itemOf(event: StoredEvent): Item {
  const { id: key, kind, body } = event
  const note = (text: string, isQuiet = false): Item => ({ type: 'note', key, event, text, isQuiet })
  switch (kind) {
    case 'MessageEvent': return { type: 'message', key, event }
    case 'ConversationErrorEvent':
      return { type: 'error', key, event, code: textAt(body, 'code'), detail: textAt(body, 'detail') }
    case 'ConversationStateUpdateEvent': return stateNote(event)
    case 'PauseEvent': return note('Paused')
    case 'Condensation': return note(condensed(body))
    case 'CondensationRequest': return note('A shorter history was asked for')
    case 'CondensationSummaryEvent': return note(textAt(body, 'summary'))
    case 'SystemPromptEvent': return note('Instructions and tools of the agent', true)
    case 'LLMCompletionLogEvent': return note(`Log of a call of ${textAt(body, 'model_name')}`, true)
    case 'TokenEvent': return note('Token ids of a call', true)
    default: return { type: 'unknown', key, event }
  }
}

function condensed(body: Members): string {
  const forgotten = body['forgotten_event_ids']
  const count = Array.isArray(forgotten) ? forgotten.length : 0
  return `The history was condensed: ${count} events left the view of the model`
}

/** Returns the note for a state update. `isQuiet` is false only for an update of the policy, the goal or the agent. */
function stateNote(event: StoredEvent): Item {
  const { id: key, body } = event
  const name = textAt(body, 'key')
  const value = objectAt(body, 'value')
  const note = (text: string, isQuiet: boolean): Item => ({ type: 'note', key, event, text, isQuiet })
  if (name === 'confirmation_policy') return note(`Confirmation policy: ${policyName(textAt(value, 'kind'))}`, false)
  if (name === 'goal') return note(`Goal ${textAt(value, 'status')}: ${textAt(value, 'objective')}`, false)
  if (name === 'agent') {
    const model = textAt(value, 'llm', 'model')
    return note(`Agent settings changed${model === '' ? '' : `: ${model}`}`, false)
  }
  const plain = typeof body['value'] === 'string' ? `: ${body['value']}` : ''
  return note(`State ${name}${plain}`, true)
}

export function policyName(kind: string): string {
  if (kind === 'NeverConfirm') return 'never ask'
  if (kind === 'AlwaysConfirm') return 'always ask'
  return kind === 'ConfirmRisky' ? 'ask for risky actions' : kind
}
