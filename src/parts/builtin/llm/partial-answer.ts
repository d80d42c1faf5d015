/** The text of an answer that a model is still writing. A new attempt of the call starts with an empty text. */

/** A piece of the answer's text, of its thoughts, or of both. */
export interface AnswerPiece {
  readonly content?: string
  readonly reasoning_content?: string
}

export class PartialAnswer {
  #content = ''
  #reasoning = ''

  get content(): string {
    return this.#content
  }

  get reasoning(): string {
    return this.#reasoning
  }

  /** Begins another attempt: drops the text of the attempt before. */
  begin(): void {
    this.#content = this.#reasoning = ''
  }

  add({ content = '', reasoning_content = '' }: AnswerPiece): void {
    this.#content += content
    this.#reasoning += reasoning_content
  }
}
