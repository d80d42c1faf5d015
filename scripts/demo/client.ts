/** The client of the demo: one function for REST calls, and one that describes an event in a line. */

export type Api = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

/** REST calls with the session key. Throws for any answer that is not 2xx, with the server's own words. */
export function api(base: string, key: string): Api {
  return async (method, path, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-session-api-key': key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    if (!isRecord(answer)) throw new Error(`${method} ${path}: expected a JSON object`)
    return answer
  }
}

/** Returns one line about an event, or undefined for an event that is not worth a line. */
export function describeEvent(event: Record<string, unknown>): string | undefined {
  const at = typeof event['timestamp'] === 'string' ? event['timestamp'].slice(11, 23) : ''
  const words = describe(event)
  return words === undefined ? undefined : `${at}  ${words}`
}

function describe(event: Record<string, unknown>): string | undefined {
  switch (event['kind']) {
    case 'MessageEvent':
      return `${event['source'] === 'user' ? 'you' : 'agent'}: ${messageText(event['llm_message'])}`
    case 'ActionEvent':
      if (isRecord(event['action']) && typeof event['action']['message'] === 'string') {
        return `agent: ${event['action']['message']}`
      }
      return `action: ${String(event['summary'] ?? event['tool_name'])} (${kindOf(event['action'])})`
    case 'ObservationEvent':
      return `result: ${kindOf(event['observation'])}`
    case 'ConversationStateUpdateEvent':
      return event['key'] === 'execution_status' ? `status: ${String(event['value'])}` : undefined
    case 'StreamingDeltaEvent':
    case 'SystemPromptEvent':
      return undefined
    default:
      return `${String(event['kind'])} ${String(event['detail'] ?? event['error'] ?? '')}`
  }
}

function messageText(message: unknown): string {
  if (!isRecord(message) || !Array.isArray(message['content'])) return ''
  const parts = message['content'].map((item: unknown) => (isRecord(item) ? String(item['text'] ?? '[image]') : ''))
  return parts.join(' ').replace(/\s+/g, ' ').slice(0, 160)
}

function kindOf(value: unknown): string {
  return isRecord(value) ? String(value['kind']) : 'nothing'
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
