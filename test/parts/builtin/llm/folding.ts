/** Folds the events of an answer without a network. */
import { readFileSync } from 'node:fs'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { EventParser } from '../../../../src/parts/net/event-stream.ts'
import type { AnswerPiece } from '../../../../src/parts/builtin/llm/partial-answer.ts'
import type { AnswerFold, FoldContext, FoldedAnswer } from '../../../../src/parts/builtin/llm/wire.ts'
import { toJsonObject, type JsonObject } from '../../../../src/base/json.ts'

export interface Folded {
  readonly answer: FoldedAnswer | undefined
  readonly pieces: readonly AnswerPiece[]
}

/** Ids that were made count up: made-1, made-2 ... */
export function folded(start: (context: FoldContext) => AnswerFold, events: readonly JsonObject[]): Folded {
  let made = 0
  const fold = start({
    newId: () => `made-${++made}`,
    failureOf: (body) => new ModelError('LLMServiceUnavailableError', JSON.stringify(body)),
    limitParts: () => undefined,
  })
  const pieces = events.map((event) => fold.push(event))
  return { pieces, answer: fold.finish() }
}

/** A stream in test/vectors/llm, `gemini/text` for example. */
export function vectorBytes(name: string): Buffer {
  return readFileSync(new URL(`../../../../../test/vectors/llm/${name}.sse`, import.meta.url))
}

/** Its events. */
export function vector(name: string): JsonObject[] {
  return new EventParser().push(vectorBytes(name)).map(({ data }) => toJsonObject(JSON.parse(data)))
}

/** The answer of events that end it. */
export function answerOf(start: (context: FoldContext) => AnswerFold, events: readonly JsonObject[]): FoldedAnswer {
  const { answer } = folded(start, events)
  if (answer === undefined) throw new TypeError('Expected an answer')
  return answer
}
