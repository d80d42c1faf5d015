/**
 * Models that attack: answers in the wire formats of four providers, streamed or whole, as bytes.
 *
 * The path of the request tells the format. A first answer is the attack; when it was a call, the next one ends the
 * turn.
 */
import type { ServerResponse } from 'node:http'
import { startModelServer, type ModelServer } from '../../test/fixtures/model-server.ts'

/** The pieces of a stream, or the whole of an answer that is none. */
export interface Attack {
  readonly type: 'application/json' | 'text/event-stream'
  readonly pieces: Iterable<string>
}

/** `times`: how many answers are the attack. */
export function startAttackingModel(attack: () => Attack, times = 1): Promise<ModelServer> {
  let left = times
  return startModelServer((request, response) => {
    const { type, pieces } = left-- > 0 ? attack() : endOf(request.path)
    response.writeHead(200, { 'content-type': type })
    void send(response, pieces)
  })
}

async function send(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  response.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  for (const piece of pieces) {
    if (response.destroyed) return
    if (!response.write(piece)) {
      await Promise.race([new Promise<void>((resolve) => response.once('drain', resolve)), closed])
    }
  }
  response.end()
}

function endOf(path: string): Attack {
  if (path.endsWith('/responses')) {
    return whole({
      id: 'r', object: 'response', status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Done' }] }], usage: {},
    })
  }
  if (path.endsWith('/messages')) {
    return whole({
      id: 'm', type: 'message', content: [{ type: 'text', text: 'Done' }], stop_reason: 'end_turn', usage: {},
    })
  }
  if (path.includes('enerateContent')) {
    return whole({ candidates: [{ content: { parts: [{ text: 'Done' }] }, finishReason: 'STOP' }] })
  }
  return whole({ id: 'c', choices: [{ message: { content: 'Done' }, finish_reason: 'stop' }] })
}

function whole(answer: object): Attack {
  return { type: 'application/json', pieces: [JSON.stringify(answer)] }
}

export const models: Readonly<Record<string, (count: number) => Attack>> = {
  'chat text': (count) =>
    json(['{"id":"c","choices":[{"message":{"content":"', ...texts(count), '"},"finish_reason":"stop"}]}']),
  'chat values': (count) => {
    return json([
      '{"id":"c","choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"x":[',
      ...many('{},', count / 3),
      '{}]}',
    ])
  },
  'chat endless nesting': (count) => json(many('[', count)),
  'chat stream of text': (count) => events([...range(count, () => chat({ content: 'word ' })), chat({}, 'stop')]),
  'chat arguments in pieces': (count) => {
    return events([
      chat({ tool_calls: [{ index: 0, id: 'c', function: { name: 'think', arguments: '{"thought":"' } }] }),
      ...range(count, () => chat({ tool_calls: [{ index: 0, function: { arguments: 'word ' } }] })),
      chat({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] }),
      chat({}, 'tool_calls'),
    ])
  },
  'chat calls': (count) => {
    return events([
      ...range(count, (index) => {
        return chat({
          tool_calls: [{ index, id: `c${index}`, function: { name: 'think', arguments: '{"thought":"a"}' } }],
        })
      }),
      chat({}, 'tool_calls'),
    ])
  },
  'chat details': (count) => {
    return events([
      ...range(count, () => `{"choices":[{"delta":{"reasoning_details":[${'{},'.repeat(10_000)}{}]}}]}`),
      chat({}, 'stop'),
    ])
  },
  'chat one long event': (count) => events([chat({ content: 'x'.repeat(count) }), chat({}, 'stop')]),
  'chat one line in pieces': (count) => ({ type: 'text/event-stream', pieces: ['data: ', ...many('x', count)] }),
  'chat empty data lines': (count) => ({ type: 'text/event-stream', pieces: many('data:\n', count) }),
  'anthropic text': (count) => {
    return json([
      '{"id":"m","type":"message","content":[{"type":"text","text":"',
      ...texts(count),
      '"}],"stop_reason":"end_turn","usage":{}}',
    ])
  },
  'anthropic blocks': (count) => {
    return json([
      '{"id":"m","type":"message","content":[',
      ...many('{"type":"text","text":"a"},', count),
      '{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{}}',
    ])
  },
  'anthropic blocks streamed': (count) => {
    return events([
      ...range(count, (index) => {
        return JSON.stringify({ type: 'content_block_start', index, content_block: { type: 'text', text: 'a' } })
      }),
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
      '{"type":"message_stop"}',
    ])
  },
  'anthropic arguments in pieces': (count) => {
    return events([
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"think","input":{}}}',
      ...range(count, (index) => {
        return JSON.stringify({
          type: 'content_block_delta',
          index: 0,
          delta: {
            type: 'input_json_delta', partial_json: index === 0 ? '{"thought":"' : index === count - 1 ? '"}' : 'word ',
          },
        })
      }),
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
      '{"type":"message_stop"}',
    ])
  },
  'anthropic usage members': (count) => {
    return events([
      ...range(count, (index) => `{"type":"message_delta","delta":{},"usage":{"a${index}":1}}`),
      '{"type":"message_stop"}',
    ])
  },
  'responses text': (count) => json(['{"id":"r","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"', ...texts(count), '"}]}]}']),
  'responses items': (count) => {
    return json([
      '{"id":"r","object":"response","status":"completed","output":[',
      ...many('{"type":"message","content":[{"type":"output_text","text":"a"}]},', count),
      '{}]}',
    ])
  },
  'responses items streamed': (count) => events([...range(count, () => '{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"think","arguments":"{\\"thought\\":\\"a\\"}"}}'), '{"type":"response.completed","response":{"id":"r","status":"completed"}}']),
  'gemini text': (count) =>
    json(['{"candidates":[{"content":{"parts":[{"text":"', ...texts(count), '"}]},"finishReason":"STOP"}]}']),
  'gemini parts': (count) => {
    return json([
      '{"candidates":[{"content":{"parts":[',
      ...many('{"text":"a","thoughtSignature":"s"},', count),
      '{}]},"finishReason":"STOP"}]}',
    ])
  },
  'gemini parts streamed': (count) => {
    return events([
      ...range(count, () => '{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"}]}}]}'),
      '{"candidates":[{"finishReason":"STOP"}]}',
    ])
  },
  'gemini usage members': (count) => {
    return events([
      ...range(count, (index) => `{"usageMetadata":{"a${index}":1}}`), '{"candidates":[{"finishReason":"STOP"}]}',
    ])
  },
}

function chat(delta: object, finish_reason: string | null = null): string {
  return JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
}

function json(pieces: Iterable<string>): Attack {
  return { type: 'application/json', pieces }
}

function events(datas: Iterable<string>): Attack {
  return { type: 'text/event-stream', pieces: asEvents(datas) }
}

function* asEvents(datas: Iterable<string>): Generator<string> {
  for (const data of datas) yield `data: ${data}\n\n`
}

function* texts(chars: number): Generator<string> {
  for (let left = chars; left > 0; left -= 65_536) yield 'x'.repeat(Math.min(left, 65_536))
}

/** In pieces of some kilobytes. */
function* many(piece: string, times: number): Generator<string> {
  for (let left = Math.floor(times); left > 0; left -= 10_000) yield piece.repeat(Math.min(left, 10_000))
}

function* range(times: number, make: (index: number) => string): Generator<string> {
  for (let index = 0; index < times; index++) yield make(index)
}
