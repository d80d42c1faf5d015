/** Records the received part of an answer that was cut off. */
import type { Turn } from '../../../conversation/agent/agent.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { cutMessage } from '../view/cut-message.ts'
import { maskingWays, maskMessage } from './masked.ts'
import type { SplitAnswer } from './split-answer.ts'

interface CutPlace {
  readonly host: Pick<AgentHost, 'mask' | 'maskingStream'>
  readonly turn: Pick<Turn, 'record' | 'served'>
  /** The id of the message that the model was answering, if any. */
  readonly asked: string | undefined
}

/** Waits for `work`. Records the received text when `work` rejects. @throws the error of `work` */
export async function keepingText<T>(work: Promise<T>, partial: SplitAnswer, place: CutPlace): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    await recordCut(partial, place)
    throw thrown
  }
}

/** Records the text and thoughts of the answer that was cut off, without those that `recordShown` has recorded. */
export async function recordCut(partial: SplitAnswer, { host, turn, asked }: CutPlace): Promise<void> {
  const message = cutMessage(partial)
  if (message === undefined) return
  const llm_message = partial.rest(await maskMessage(message, maskingWays(host)))
  // Mark the message `asked` as answered: the model then sees this text right after it, not after later messages.
  if (asked !== undefined) turn.served(asked)
  turn.record({ kind: 'MessageEvent', source: 'agent', llm_message })
}
