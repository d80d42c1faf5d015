/**
 * Objects that events, actions, requests and errors contain (the specification's section "Embedded objects"; for
 * `ImageContent` contract/payloads.md, section 1).
 *
 * An object refuses unknown members unless the contract tolerates them.
 */
import {
  alias, arrayOf, boolean, closed, constant, defaultTo, either, integer, json, nullable, nullDefaultTo, numberOf,
  oneOf, openObject, optional, ref, required, response, string, tolerant, union, type Definitions,
} from './define.ts'

export const eventSources = ['agent', 'user', 'environment'] as const

/** The values of `SecurityRisk` for an action whose risk was judged, from the lowest to the highest. */
export const knownRisks = ['LOW', 'MEDIUM', 'HIGH'] as const

/** The most content items in a client's message. An agent's message in an event has no limit. */
export const contentLimit = 1000

export const values: Definitions = {
  SecurityRisk: alias('The risk of an action. UNKNOWN is the value of a risk that was not judged.',
    oneOf('UNKNOWN', ...knownRisks)),

  EventSource: alias('The source of an event.', oneOf(...eventSources)),

  TextContent: closed('A piece of text.', {
    cache_prompt: defaultTo(false, boolean, 'Whether the model provider may cache the prompt up to here.'),
    type: defaultTo('text', constant('text')),
    text: required(string),
  }),

  ImageContent: tolerant('One or more images.', {
    cache_prompt: defaultTo(false, boolean, 'Whether the model provider may cache the prompt up to here.'),
    type: defaultTo('image', constant('image')),
    image_urls: required(arrayOf(string), 'Addresses over http or https, or data URLs.'),
  }),

  Content: union('A part of a message.', 'type', ['TextContent', 'ImageContent'],
    [{ has: 'image_urls', variant: 'ImageContent' }, { variant: 'TextContent' }]),

  ThinkingBlock: closed('Thinking that the model made visible.', {
    type: defaultTo('thinking', constant('thinking')),
    thinking: required(string),
    signature: optional(string, 'Cryptographic signature of the block.'),
  }),

  RedactedThinkingBlock: closed('Thinking that the model provider encrypted.', {
    type: defaultTo('redacted_thinking', constant('redacted_thinking')),
    data: required(string),
  }),

  ThinkingContent: union('A block of thinking.', 'type', ['ThinkingBlock', 'RedactedThinkingBlock'],
    [{ has: 'data', variant: 'RedactedThinkingBlock' }, { variant: 'ThinkingBlock' }]),

  ReasoningItemModel: closed('A reasoning item of a responses-style model API.', {
    id: optional(string),
    summary: defaultTo([], arrayOf(string)),
    content: optional(arrayOf(string)),
    encrypted_content: optional(string, 'Must not be logged or rendered.'),
    status: optional(string),
  }),

  MessageToolCall: closed('A tool call as the model sent it.', {
    id: required(string, 'Canonical id of the tool call.'),
    name: required(string, 'Name of the tool or function.'),
    arguments: required(string, 'Arguments, encoded as JSON.'),
    origin: required(oneOf('completion', 'responses'), 'Family of the API it came from.'),
  }),

  CriticResult: closed('What a critic thinks of the work.', {
    score: required(numberOf({ minimum: 0, maximum: 1 }), 'Predicted probability of success.'),
    message: required(nullable(string)),
    metadata: optional(openObject, 'May hold event ids and categorized features.'),
  }),

  Message: tolerant('A message to or from a model.', {
    role: required(oneOf('user', 'system', 'assistant', 'tool')),
    content: nullDefaultTo([], arrayOf(ref('Content'), { bareText: 'TextContent' })),
    tool_calls: optional(arrayOf(ref('MessageToolCall'))),
    tool_call_id: optional(string),
    name: optional(string),
    reasoning_content: optional(string),
    thinking_blocks: defaultTo([], arrayOf(ref('ThinkingContent'))),
    responses_reasoning_item: optional(ref('ReasoningItemModel')),
  }),

  ValidationError: response('One place where a request broke a rule.', {
    loc: required(arrayOf(either(string, integer)), 'Where, outermost first.'),
    msg: required(string),
    type: required(string, 'Which rule.'),
    input: optional(json, 'The offending value, with secrets taken out.'),
    ctx: optional(openObject, 'The figures of the rule.'),
  }),

  HTTPValidationError: response('The body of every 422 that names places.', {
    detail: defaultTo([], arrayOf(ref('ValidationError'))),
  }),
}
