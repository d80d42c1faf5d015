/** Messages to models, and the contents of the answers in test/vectors/llm. */
import type { ModelAnswer, ModelMessage } from '../../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import type { Content, Message, MessageToolCall } from '../../../../src/schema/generated/values.ts'

export const text = (value: string): Content => ({ cache_prompt: false, type: 'text', text: value })
export const image = (...image_urls: readonly string[]): Content => ({ cache_prompt: false, type: 'image', image_urls })

export function user(said: string, ...imageUrls: readonly string[]): ModelMessage {
  return sent({ role: 'user', content: [text(said), ...(imageUrls.length === 0 ? [] : [image(...imageUrls)])] })
}

/** Makes a message with the given members, and the state that came with it. */
export function sent(message: Partial<Message> & Pick<Message, 'role'>, state?: JsonObject): ModelMessage {
  return { message: { content: [], thinking_blocks: [], ...message }, ...(state === undefined ? {} : { state }) }
}

export interface ExpectedAnswer {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly Omit<MessageToolCall, 'id'>[]
  readonly stop: ModelAnswer['stop']
}

/** Returns the contents of each file (test/vectors/llm/README.md). */
export function answering(origin: MessageToolCall['origin']): Readonly<Record<string, ExpectedAnswer>> {
  const call = (name: string, args: string): ExpectedAnswer['calls'][number] => ({ name, arguments: args, origin })
  const plain = { text: '', reasoning: '', calls: [], stop: 'end' } as const
  return {
    text: { ...plain, text: 'Grüße, 世界 👋!' },
    'tool-call': { ...plain, text: 'I look.', calls: [call('terminal', '{"command":"ls -la"}')], stop: 'tool_calls' },
    'parallel-calls': {
      ...plain, calls: [call('read_file', '{"file_path":"/a"}'), call('glob', '{"pattern":"*.ts"}')],
      stop: 'tool_calls',
    },
    reasoning: { ...plain, text: '4', reasoning: 'Two and two make four.' },
    refusal: { ...plain, text: 'I cannot help with that.', stop: 'refusal' },
    length: { ...plain, text: 'Once upon', stop: 'length' },
    empty: plain,
  }
}
