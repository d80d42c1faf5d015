/**
 * An answer that is split when the user sends a message while the model writes (contract/events.md, section 5).
 *
 * Text that live readers have at that moment is recorded before the user's message, the rest of the answer after it.
 */
import type { MaskingStream } from '../../../base/masking.ts'
import type { Turn } from '../../../conversation/agent/agent.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { toMessage, type Message } from '../../../schema/generated/values.ts'
import { PartialAnswer, type AnswerPiece } from '../llm/partial-answer.ts'

interface Texts {
  readonly content: string
  readonly reasoning_content: string
}

const nothing: Texts = { content: '', reasoning_content: '' }

interface Splitting {
  readonly host: Pick<AgentHost, 'maskingStream'>
  readonly turn: Pick<Turn, 'record' | 'served' | 'onMessage'>
  /** The id of the message that the model answers, if any. */
  readonly asked: string | undefined
  /** True when live readers get the text while the model writes. */
  readonly isShown: boolean
}

/** Returns an empty answer. If `isShown`, a user message splits it, until its method `rest` is called. */
export function splitByMessages({ host, turn, asked, isShown }: Splitting): SplitAnswer {
  const answer = new SplitAnswer(() => host.maskingStream())
  turn.onMessage(() => {
    if (isShown) answer.recordShown(turn, asked)
  })
  return answer
}

export class SplitAnswer extends PartialAnswer {
  readonly #createMask: () => MaskingStream
  #masks: Record<keyof Texts, MaskingStream>
  /** The masked text of the current attempt, in the form that live readers get. */
  #shown = nothing
  /** The beginning of `#shown` that `recordShown` has recorded. */
  #taken = nothing
  #isOver = false

  constructor(createMask: () => MaskingStream) {
    super()
    this.#createMask = createMask
    this.#masks = { content: createMask(), reasoning_content: createMask() }
  }

  override begin(): void {
    super.begin()
    this.#masks = { content: this.#createMask(), reasoning_content: this.#createMask() }
    this.#shown = this.#taken = nothing
  }

  override add(piece: AnswerPiece): void {
    super.add(piece)
    const { content, reasoning_content } = this.#shown
    this.#shown = {
      content: content + this.#masks.content.push(piece.content ?? ''),
      reasoning_content: reasoning_content + this.#masks.reasoning_content.push(piece.reasoning_content ?? ''),
    }
  }

  /** Records the text and thoughts that live readers have but no recorded message has. Does nothing after `rest`. */
  recordShown(turn: Pick<Turn, 'record' | 'served'>, asked: string | undefined): void {
    const text = this.#shown.content.slice(this.#taken.content.length)
    const thoughts = this.#shown.reasoning_content.slice(this.#taken.reasoning_content.length)
    if (this.#isOver || (text.trim() === '' && thoughts.trim() === '')) return
    this.#taken = this.#shown
    // Mark the message `asked` as answered: the model then sees this text right after it, not after later messages.
    if (asked !== undefined) turn.served(asked)
    turn.record({
      kind: 'MessageEvent', source: 'agent',
      llm_message: toMessage({
        role: 'assistant',
        content: text === '' ? [] : [{ type: 'text', text }],
        ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
      }),
    }, 'midway')
  }

  /**
   * Ends the splitting. Returns the masked `message` without the text and thoughts that `recordShown` has recorded. If
   * the message does not begin with them, returns it unchanged.
   */
  rest(message: Message): Message {
    this.#isOver = true
    const { content, reasoning_content: thoughts = '' } = message
    const [texts, thought] = [withoutStart(content, this.#taken.content), this.#taken.reasoning_content]
    if (this.#taken === nothing || texts === undefined || !thoughts.startsWith(thought)) return message
    const left = thoughts.slice(thought.length)
    const { reasoning_content: _, ...others } = message
    return { ...others, content: texts, ...(left === '' ? {} : { reasoning_content: left }) }
  }
}

/** Returns the parts with `start` removed from the beginning of their joined text; undefined if it is not there. */
function withoutStart(parts: Message['content'], start: string): Message['content'] | undefined {
  const rest: Message['content'][number][] = []
  let left = start
  for (const part of parts) {
    if (left === '' || part.type !== 'text') rest.push(part)
    else if (left.startsWith(part.text)) left = left.slice(part.text.length)
    else if (part.text.startsWith(left)) {
      rest.push({ ...part, text: part.text.slice(left.length) })
      left = ''
    } else return undefined
  }
  return left === '' ? rest : undefined
}
