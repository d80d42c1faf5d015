/**
 * The tables of events and embedded objects (spec: "Event (common rules)", spec: "Event variants", spec: "Embedded
 * objects"), in the notation of notation.ts. They were written from the text of the specification, not from the schema.
 * Defaults of lists that it does not state come from contract: events.md, section 2.1.
 */
import type { Table } from './notation.ts'

const risk = 'UNKNOWN|LOW|MEDIUM|HIGH = "UNKNOWN"'
const thinking = '(ThinkingBlock|RedactedThinkingBlock)[] = []'

/** Kind -> its own fields. `source` stands for the default of that field, or `required`. */
export const events: Readonly<Record<string, Table>> = {
  Condensation: {
    source: 'environment',
    forgotten_event_ids: 'string[] = []',
    summary: 'string or null',
    summary_offset: 'integer >= 0 or null',
    llm_response_id: 'string, required',
  },
  CondensationRequest: { source: 'environment' },
  CondensationSummaryEvent: { source: 'environment', summary: 'string, required' },
  ConversationErrorEvent: { source: 'required', code: 'string, required', detail: 'string, required' },
  ConversationStateUpdateEvent: { source: 'environment', key: 'string', value: 'any = {}' },
  LLMCompletionLogEvent: {
    source: 'environment',
    filename: 'string, required',
    log_data: 'string, required',
    model_name: 'string = "unknown"',
    usage_id: 'string = "default"',
  },
  ActionEvent: {
    source: 'agent',
    thought: 'TextContent[], required',
    reasoning_content: 'string or null',
    thinking_blocks: thinking,
    responses_reasoning_item: 'ReasoningItemModel or null',
    action: 'Action or null',
    tool_name: 'string, required',
    tool_call_id: 'string, required',
    tool_call: 'MessageToolCall, required',
    llm_response_id: 'string, required',
    security_risk: risk,
    critic_result: 'CriticResult or null',
    summary: 'string or null',
  },
  MessageEvent: {
    source: 'required',
    llm_message: 'Message, required',
    llm_response_id: 'string or null',
    activated_skills: 'string[] = []',
    extended_content: 'TextContent[] = []',
    sender: 'string or null',
    critic_result: 'CriticResult or null',
  },
  AgentErrorEvent: {
    source: 'agent',
    tool_name: 'string, required',
    tool_call_id: 'string, required',
    error: 'string, required',
  },
  ObservationEvent: {
    source: 'environment',
    tool_name: 'string, required',
    tool_call_id: 'string, required',
    observation: 'Observation, required',
    action_id: 'string, required',
  },
  UserRejectObservation: {
    source: 'environment',
    tool_name: 'string, required',
    tool_call_id: 'string, required',
    rejection_reason: 'string = "User rejected the action"',
    rejection_source: 'user|hook = "user"',
    action_id: 'string, required',
  },
  SystemPromptEvent: {
    source: 'agent',
    system_prompt: 'TextContent, required',
    tools: 'ToolDefinition[], required',
    dynamic_context: 'TextContent or null',
  },
  TokenEvent: {
    source: 'required',
    prompt_token_ids: 'integer[], required',
    response_token_ids: 'integer[], required',
  },
  PauseEvent: { source: 'user' },
}

/** Decisions 2: frames of live streams, no events of the history. */
export const frames: Readonly<Record<string, Table>> = {
  StreamingDeltaEvent: { source: 'agent', content: 'string or null', reasoning_content: 'string or null' },
  ServerErrorEvent: { source: 'environment', code: 'string, required', detail: 'string, required' },
}

export const embedded: Readonly<Record<string, Table>> = {
  TextContent: { cache_prompt: 'boolean = false', type: '"text" = "text"', text: 'string, required' },
  ThinkingBlock: {
    type: '"thinking" = "thinking"',
    thinking: 'string, required',
    signature: 'string or null',
  },
  RedactedThinkingBlock: { type: '"redacted_thinking" = "redacted_thinking"', data: 'string, required' },
  ReasoningItemModel: {
    id: 'string or null',
    summary: 'string[] = []',
    content: 'string[] or null',
    encrypted_content: 'string or null',
    status: 'string or null',
  },
  MessageToolCall: {
    id: 'string, required',
    name: 'string, required',
    arguments: 'string, required',
    origin: 'completion|responses, required',
  },
  CriticResult: {
    score: 'number 0..1, required',
    message: 'string or null, required',
    metadata: 'object or null',
  },
  Message: {
    role: 'user|system|assistant|tool, required',
    content: '(TextContent|ImageContent)[] = []',
    tool_calls: 'MessageToolCall[] or null',
    tool_call_id: 'string or null',
    name: 'string or null',
    reasoning_content: 'string or null',
    thinking_blocks: thinking,
    responses_reasoning_item: 'ReasoningItemModel or null',
  },
  // Not shown by the specification: contract/payloads.md, section 1.
  ImageContent: {
    cache_prompt: 'boolean = false',
    type: '"image" = "image"',
    image_urls: 'string[], required',
  },
}

/** `input` and `ctx` are allowed beside the members that the specification requires (decisions 17). */
export const errors: Readonly<Record<string, Table>> = {
  ValidationError: {
    loc: '(string|integer)[], required',
    msg: 'string, required',
    type: 'string, required',
    input: 'any or null',
    ctx: 'object or null',
  },
  HTTPValidationError: { detail: 'ValidationError[] = []' },
}
