/**
 * The events of a conversation's history, and the frames that exist on live streams only.
 *
 * Sources: the specification's sections "Event (common rules)" and "Event variants"; contract/events.md, section 2.1.
 * The position of a kind in `history` is its number on disk: add a new kind at the end.
 */
import {
  arrayOf, assigned, closed, constant, defaultTo, integer, integerOf, json, nullable, omittable, oneOf, optional, ref,
  required, string, union, type Definitions, type Member, type Members, type ObjectSchema,
} from './define.ts'
import { eventSources } from './values.ts'

const requiredSource = required(ref('EventSource'))

const history = {
  Condensation: event('Part of the history was forgotten or summarized.', from('environment'), {
    forgotten_event_ids: defaultTo([], arrayOf(string), 'Events removed from the view given to the model.'),
    summary: optional(string, 'Summary of the forgotten events.'),
    summary_offset: optional(integerOf({ minimum: 0 }),
      'Where the summary is inserted, in the view after removal; without it the summary is not inserted.'),
    llm_response_id: required(string, 'The model response that generated this event.'),
  }),

  CondensationRequest: event('Asks for a condensation of the history.', from('environment'), {}),

  CondensationSummaryEvent: event('A summary made by a condenser.', from('environment'), {
    summary: required(string),
  }),

  ConversationErrorEvent: event('The run failed; not sent to the model, tied to no tool call.', requiredSource, {
    code: required(string, 'Typically an error type.'),
    detail: required(string),
  }),

  ConversationStateUpdateEvent: event('The conversation\'s state changed.', from('environment'), {
    key: omittable(string, 'Unique key of this update.'),
    value: defaultTo({}, json, 'The new state, serialized.'),
  }),

  LLMCompletionLogEvent: event('Log of one model completion.', from('environment'), {
    filename: required(string, 'Intended file name, relative to a log directory.'),
    log_data: required(string, 'The log, encoded as JSON.'),
    model_name: defaultTo('unknown', string),
    usage_id: defaultTo('default', string, 'The usage that produced the log.'),
  }),

  ActionEvent: event('The agent calls a tool.', from('agent'), {
    thought: required(arrayOf(ref('TextContent'))),
    reasoning_content: optional(string),
    thinking_blocks: defaultTo([], arrayOf(ref('ThinkingContent'))),
    responses_reasoning_item: optional(ref('ReasoningItemModel')),
    action: defaultTo(null, nullable(ref('Action')), 'Null when the tool call cannot be executed.'),
    tool_name: required(string),
    tool_call_id: required(string, 'The id that the model API returned.'),
    tool_call: required(ref('MessageToolCall'), 'The call as the model sent it; it may differ from `action`.'),
    llm_response_id: required(string, 'The same for all actions of one model response.'),
    security_risk: defaultTo('UNKNOWN', ref('SecurityRisk')),
    critic_result: optional(ref('CriticResult')),
    summary: optional(string, 'About ten words that describe the action.'),
  }),

  MessageEvent: event('A message of the user, the agent or the environment.', requiredSource, {
    llm_message: required(ref('Message')),
    llm_response_id: optional(string, 'Null when the source is not the agent.'),
    activated_skills: defaultTo([], arrayOf(string), 'Names of skills.'),
    extended_content: defaultTo([], arrayOf(ref('TextContent')), 'Content added by the agent context.'),
    sender: optional(string, 'Where the message comes from in a multi-agent setup.'),
    critic_result: optional(ref('CriticResult')),
  }),

  AgentErrorEvent: event('A tool call failed in the scaffold; the conversation can go on.', from('agent'), {
    tool_name: required(string),
    tool_call_id: required(string),
    error: required(string),
  }),

  ObservationEvent: event('The result of an action.', from('environment'), {
    tool_name: required(string),
    tool_call_id: required(string),
    observation: required(ref('Observation')),
    action_id: required(string, 'The action that this answers.'),
  }),

  UserRejectObservation: event('An action was rejected by the user or blocked by a hook.', from('environment'), {
    tool_name: required(string),
    tool_call_id: required(string),
    rejection_reason: defaultTo('User rejected the action', string),
    rejection_source: defaultTo('user', oneOf('user', 'hook')),
    action_id: required(string, 'The action that this answers.'),
  }),

  SystemPromptEvent: event('The instructions and tools given to the agent.', from('agent'), {
    system_prompt: required(ref('TextContent')),
    tools: required(arrayOf(ref('ToolDefinition'))),
    dynamic_context: optional(ref('TextContent'), 'Context of this conversation, sent as a second block.'),
  }),

  TokenEvent: event('Token ids of one model call, from a vLLM-type backend.', requiredSource, {
    prompt_token_ids: required(arrayOf(integer)),
    response_token_ids: required(arrayOf(integer)),
  }),

  PauseEvent: event('The user paused the run.', from('user'), {}),
}

/** The frames that are never stored (decisions 2). */
const pushed = {
  StreamingDeltaEvent: event('A piece of an answer that is still being made.', from('agent'), {
    content: optional(string),
    reasoning_content: optional(string),
  }),

  ServerErrorEvent: event('A frame of this client was not served, or why the last run failed.', from('environment'), {
    code: required(string),
    detail: required(string),
  }),
}

export const events: Definitions = {
  ...named(history),
  Event: union('One record of a conversation\'s history.', 'kind', Object.keys(history)),
  ...named(pushed),
  PushFrame: union('A frame on live streams only.', 'kind', Object.keys(pushed)),
}

type EventShape = (name: string) => ObjectSchema

/** Makes the shape of an event: the four members of every event come first in JSON, then `members`. */
function event(doc: string, source: Member, members: Members): EventShape {
  return (name) => closed(doc, {
    kind: required(constant(name)),
    id: assigned(string, 'Unique id of the event.'),
    timestamp: assigned(string, 'The time of the event, ISO 8601.'),
    source,
    ...members,
  })
}

function from(source: (typeof eventSources)[number]): Member {
  return defaultTo(source, ref('EventSource'))
}

function named(shapes: Readonly<Record<string, EventShape>>): Definitions {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, shape(name)]))
}
