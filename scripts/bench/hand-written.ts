/**
 * The limit for the generated validator: the same questions about an ActionEvent that calls the terminal, as one would
 * write them by hand for speed. Members that are not known are refused here too.
 *
 * The switches ask for the kinds of the contract in its order, as any switch over them has to; of the others than these
 * two nothing is known here, and they are refused.
 */

type Members = Readonly<Record<string, unknown>>

/** True for an ActionEvent with a TerminalAction. */
export function isTerminalCall(value: unknown): boolean {
  if (!isObject(value)) return false
  switch (value['kind']) {
    case 'Condensation':
    case 'CondensationRequest':
    case 'CondensationSummaryEvent':
    case 'ConversationErrorEvent':
    case 'ConversationStateUpdateEvent':
    case 'LLMCompletionLogEvent':
      return false
    case 'ActionEvent':
      return isActionEvent(value)
    default:
      return false
  }
}

function isActionEvent(event: Members): boolean {
  const { id, timestamp, source, reasoning_content: reasoning, thinking_blocks: blocks, action, summary } = event
  const {
    thought, tool_name: tool, tool_call_id: callId, tool_call: call, llm_response_id: response, security_risk: risk,
  } = event
  return (
    (id === undefined || typeof id === 'string') &&
    (timestamp === undefined || typeof timestamp === 'string') &&
    (source === undefined || source === 'agent' || source === 'user' || source === 'environment') &&
    areTexts(thought) &&
    (reasoning === undefined || reasoning === null || typeof reasoning === 'string') &&
    (blocks === undefined || (Array.isArray(blocks) && blocks.length === 0)) &&
    (action === undefined || action === null || isAction(action)) &&
    typeof tool === 'string' &&
    typeof callId === 'string' &&
    isToolCall(call) &&
    typeof response === 'string' &&
    (risk === undefined || risk === 'UNKNOWN' || risk === 'LOW' || risk === 'MEDIUM' || risk === 'HIGH') &&
    (summary === undefined || summary === null || typeof summary === 'string') &&
    count(event) === 6 + given(id) + given(timestamp) + given(source) + given(reasoning) + given(blocks) +
      given(action) + given(risk) + given(summary)
  )
}

function isAction(value: unknown): boolean {
  if (!isObject(value)) return false
  switch (value['kind']) {
    case 'MCPToolAction':
    case 'FinishAction':
    case 'ThinkAction':
    case 'BrowserAction':
    case 'BrowserClickAction':
    case 'BrowserCloseTabAction':
    case 'BrowserGetContentAction':
    case 'BrowserGetStateAction':
    case 'BrowserGetStorageAction':
    case 'BrowserGoBackAction':
    case 'BrowserListTabsAction':
    case 'BrowserNavigateAction':
    case 'BrowserScrollAction':
    case 'BrowserSetStorageAction':
    case 'BrowserStartRecordingAction':
    case 'BrowserStopRecordingAction':
    case 'BrowserSwitchTabAction':
    case 'BrowserTypeAction':
    case 'FileEditorAction':
    case 'EditAction':
    case 'ListDirectoryAction':
    case 'ReadFileAction':
    case 'WriteFileAction':
    case 'GlobAction':
    case 'GrepAction':
    case 'PlanningFileEditorAction':
    case 'TaskTrackerAction':
      return false
    case 'TerminalAction':
      return isTerminalAction(value)
    default:
      return false
  }
}

function isTerminalAction(action: Members): boolean {
  const { command, timeout, is_input: isInput, reset } = action
  return (
    typeof command === 'string' &&
    (isInput === undefined || typeof isInput === 'boolean') &&
    (timeout === undefined ||
      timeout === null ||
      (typeof timeout === 'number' && timeout >= 0 && timeout < Infinity)) &&
    (reset === undefined || typeof reset === 'boolean') &&
    count(action) === 2 + given(isInput) + given(timeout) + given(reset)
  )
}

function areTexts(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) {
    if (!isText(item)) return false
  }
  return true
}

function isText(value: unknown): boolean {
  if (!isObject(value)) return false
  const { cache_prompt: cached, type, text } = value
  return (
    (cached === undefined || typeof cached === 'boolean') &&
    (type === undefined || type === 'text') &&
    typeof text === 'string' &&
    count(value) === 1 + given(cached) + given(type)
  )
}

function isToolCall(value: unknown): boolean {
  if (!isObject(value)) return false
  const { id, name, arguments: input, origin } = value
  return (
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof input === 'string' &&
    (origin === 'completion' || origin === 'responses') &&
    count(value) === 4
  )
}

function given(value: unknown): number {
  return value === undefined ? 0 : 1
}

function count(value: object): number {
  let members = 0
  for (const _name in value) members++
  return members
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
