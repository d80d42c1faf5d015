/** Promises of src/ws: RFC 6455, RFC 7692, limits and times. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const parser = ['test/ws/parser.test.ts']
const assembler = ['test/ws/assembler.test.ts']
const connection = ['test/ws/connection.test.ts', 'test/ws/connection-close.test.ts', 'test/ws/connection-pressure.test.ts']

export const wsMutations: readonly Mutation[] = [
  {
    file: 'src/ws/parser.ts',
    old: 'if ((second & 0x80) === 0) return \'mask_missing\'',
    new: 'if ((second & 0x80) === 1) return \'mask_missing\'',
    promise: 'A frame of a client that is not masked is refused.',
    tests: parser,
  },
  {
    file: 'src/ws/parser.ts',
    old: 'if (length > limitBytes && !isControl(this.#opcode)) return \'message_too_large\'',
    new: 'if (length > 2 * limitBytes && !isControl(this.#opcode)) return \'message_too_large\'',
    promise: 'A frame longer than the limit is refused by its header, before its payload is read.',
    tests: parser,
  },
  {
    file: 'src/ws/parser.ts',
    old: 'if (!this.#final) return \'control_fragmented\'',
    new: 'if (length < 0) return \'control_fragmented\'',
    promise: 'A control frame is never fragmented.',
    tests: parser,
  },
  {
    file: 'src/ws/parser.ts',
    old: 'if (high >= 0x8000_0000) return \'length_high_bit\'',
    new: 'if (high > 0xffff_ffff) return \'length_high_bit\'',
    promise: 'A length with its highest bit set is refused.',
    tests: parser,
  },
  {
    file: 'src/ws/parser.ts',
    old: 'return length < minimum ? \'length_not_minimal\' : this.#length(length, limitBytes)',
    new: 'return length < 0 ? \'length_not_minimal\' : this.#length(length, limitBytes)',
    promise: 'A length that is not in its shortest form is refused.',
    tests: parser,
  },
  {
    file: 'src/ws/parser.ts',
    old: 'if ((first & 0x30) !== 0 || (this.#compressed && !mayCompress)) return \'reserved_bit\'',
    new: 'if ((first & 0x30) !== 0) return \'reserved_bit\'',
    promise: 'A compressed frame is refused where compression was not negotiated.',
    tests: parser,
  },
  {
    file: 'src/ws/assembler.ts',
    old: 'return this.maxMessageBytes - (this.#message?.collector.length ?? 0)',
    new: 'return this.maxMessageBytes',
    promise: 'The limit of a message counts all of its fragments.',
    tests: [...assembler, ...connection],
  },
  {
    file: 'src/ws/assembler.ts',
    old: 'if (message.fragments > this.#maxFragments) return broken(\'too_many_fragments\')',
    new: 'if (message.fragments > 1000 * this.#maxFragments) return broken(\'too_many_fragments\')',
    promise: 'A message has a limited number of fragments.',
    tests: assembler,
  },
  {
    file: 'src/ws/assembler.ts',
    old: 'if (this.#message !== undefined) return broken(\'continuation_expected\')',
    new: 'if (this.#message?.fragments === -1) return broken(\'continuation_expected\')',
    promise: 'No message begins inside another.',
    tests: assembler,
  },
  {
    file: 'src/ws/assembler.ts',
    old: 'if (!isCloseCode(code)) return broken(\'close_code\')',
    new: 'if (code === 0) return broken(\'close_code\')',
    promise: 'A Close frame with a code that must not be sent is refused.',
    tests: assembler,
  },
  {
    file: 'src/ws/connection.ts',
    old: 'if (this.#state === \'open\') this.owner.onMessage?.(incoming)',
    new: 'this.owner.onMessage?.(incoming)',
    promise: 'No message is handed on after the first Close frame of either side.',
    tests: connection,
  },
  {
    file: 'src/ws/connection.ts',
    old: 'if (this.#outbox.isWaiting) this.#outbox.pushUrgent(frame)',
    new: 'if (this.#state === undefined) this.#outbox.pushUrgent(frame)',
    promise: 'While a peer takes nothing, only its newest Ping is answered.',
    tests: connection,
  },
  {
    file: 'src/ws/connection.ts',
    old: 'this.#sendClose(code === noCloseCode ? undefined : code)',
    new: 'this.#sendClose(code === noCloseCode ? undefined : 1000)',
    promise: 'The answer to a Close frame repeats its code.',
    tests: connection,
  },
  {
    file: 'src/ws/connection.ts',
    old: 'this.#closeTimer = setTimeout(() => this.terminate(), this.#limits.closeTimeoutMs)',
    new: 'this.#closeTimer = setTimeout(() => undefined, this.#limits.closeTimeoutMs)',
    promise: 'A peer that does not answer a Close frame is dropped after a time.',
    tests: connection,
  },
  {
    file: 'src/ws/outbox.ts',
    old: 'this.#stall = setTimeout(() => this.#owner.onStall(), this.#limits.stallTimeoutMs)',
    new: 'this.#stall = setTimeout(() => undefined, this.#limits.stallTimeoutMs)',
    promise: 'A peer that takes no byte for too long is closed.',
    tests: ['test/ws/outbox.test.ts'],
  },
  {
    file: 'src/ws/outbox.ts',
    old: 'if (this.#urgent !== undefined && !this.#isInsideFrame) this.#takeUrgent(this.#urgent)',
    new: 'if (this.#urgent !== undefined) this.#takeUrgent(this.#urgent)',
    promise: 'An urgent frame never goes out inside another frame.',
    tests: ['test/ws/outbox.test.ts'],
  },
  {
    file: 'src/ws/heartbeat.ts',
    old: 'this.#askedAt = undefined\n    this.#owner.onSilence()',
    new: 'this.#askedAt = undefined',
    promise: 'A peer that answers no Ping is dropped.',
    tests: ['test/ws/heartbeat.test.ts'],
  },
  {
    file: 'src/ws/compression.ts',
    old: 'if (keepsContext) this.#contexts--',
    new: 'if (keepsContext && this.#contexts > 1) this.#contexts--',
    promise: 'A connection that ends gives its compression context back.',
    tests: ['test/ws/inflater.test.ts', 'test/ws/rfc7692.test.ts'],
  },
  {
    file: 'src/ws/compression.ts',
    old: 'const done = this.#last.then(work)',
    new: 'const done = work()',
    promise: 'One message at a time is decompressed on the whole server.',
    tests: ['test/ws/inflater.test.ts', 'test/ws/rfc7692.test.ts'],
  },
  {
    file: 'src/ws/utf8.ts',
    old: 'return length === 0 || canBegin(rest, missing) ? rest : undefined',
    new: 'return rest',
    promise: 'A character that cannot become UTF-8 is refused with the fragment that it begins in.',
    tests: ['test/ws/utf8.test.ts'],
  },
]
