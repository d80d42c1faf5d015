/**
 * Turns the bytes of a peer into messages, with the parser, the assembler and the inflater.
 *
 * While `isBusy` is true, `next` returns nothing: a message is being decompressed or decoded, or other connections get
 * a turn of the event loop. `onReady` is called afterwards. Push nothing until then, so that memory stays bounded.
 */
import { Assembler, messageInTurns } from './assembler.ts'
import type { AssemblerOptions, Incoming, Undecoded } from './assembler.ts'
import type { Inflater } from './inflater.ts'
import { Parser } from './parser.ts'

export interface IntakeOptions extends AssemblerOptions {
  readonly inflater: Inflater | undefined
  readonly onReady: () => void
}

/** The most frames of a chunk that are read in a turn of the event loop. */
const framesInTurn = 128

export class Intake {
  readonly #parser: Parser
  readonly #assembler: Assembler
  readonly #inflater: Inflater | undefined
  readonly #onReady: () => void
  #isBusy = false
  /** The result of `#decode`, a message or a broken rule, until `next` returns it. */
  #decoded: Incoming | undefined
  #framesLeft = framesInTurn
  #rest: NodeJS.Immediate | undefined

  constructor(options: IntakeOptions) {
    this.#parser = new Parser(options.inflater !== undefined)
    this.#assembler = new Assembler(options)
    this.#inflater = options.inflater
    this.#onReady = options.onReady
  }

  /** True while a message is being decompressed or decoded, or the next turn of the event loop is awaited. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** True when no bytes of a message are left in this intake, so that a new intake can replace it. */
  get isEmpty(): boolean {
    return !this.#isBusy && this.#decoded === undefined && this.#parser.isEmpty && this.#assembler.isEmpty
  }

  set maxMessageBytes(bytes: number) {
    this.#assembler.maxMessageBytes = bytes
  }

  push(chunk: Buffer): void {
    this.#framesLeft = framesInTurn
    this.#parser.push(chunk)
  }

  /** Returns the next message, control frame or protocol violation; undefined if `isBusy` or if bytes are missing. */
  next(): Exclude<Incoming, Undecoded> | undefined {
    while (!this.#isBusy) {
      const incoming = this.#decoded ?? this.#read()
      this.#decoded = undefined
      if (incoming?.kind !== 'undecoded') return incoming
      this.#decode(incoming)
    }
    return undefined
  }

  close(): void {
    clearImmediate(this.#rest)
  }

  #read(): Incoming | undefined {
    for (;;) {
      if (this.#framesLeft-- === 0) return this.#takeRest()
      const frame = this.#parser.next(this.#assembler.remainingBytes)
      const incoming = frame?.kind === 'frame' ? this.#assembler.add(frame) : frame
      if (incoming !== undefined || frame === undefined) return incoming
    }
  }

  #takeRest(): undefined {
    this.#isBusy = true
    this.#rest = setImmediate(() => {
      this.#isBusy = false
      this.#framesLeft = framesInTurn
      this.#onReady()
    })
  }

  #decode(message: Undecoded): void {
    this.#isBusy = true
    void this.#messageOf(message).then((incoming) => {
      this.#isBusy = false
      this.#decoded = incoming
      this.#onReady()
    })
  }

  async #messageOf({ of, isCompressed, payload }: Undecoded): Promise<Incoming> {
    if (!isCompressed) return messageInTurns(of, payload)
    if (this.#inflater === undefined) throw new TypeError('Cannot inflate: permessage-deflate was not negotiated')
    const data = await this.#inflater.inflate(payload, this.#assembler.maxMessageBytes)
    return Buffer.isBuffer(data) ? messageInTurns(of, data) : data
  }
}
