/**
 * The rules of RFC 6455 and RFC 7692 for incoming frames, each with a close code and a text.
 *
 * The text is sent as the reason of the Close frame, so it has fewer than 124 bytes. The section numbers below are
 * those of RFC 6455.
 */

export const violations = {
  // Section 5.2, base framing
  reserved_bit: { closeCode: 1002, text: 'A reserved bit is set without an extension that defines it' },
  opcode_unknown: { closeCode: 1002, text: 'The opcode is reserved' },
  mask_missing: { closeCode: 1002, text: 'A frame from a client must be masked' },
  length_not_minimal: { closeCode: 1002, text: 'The payload length must use the fewest bytes possible' },
  length_high_bit: { closeCode: 1002, text: 'The highest bit of a payload length must be 0' },
  // Section 5.4, fragmentation
  continuation_unexpected: { closeCode: 1002, text: 'A continuation frame has no message to continue' },
  continuation_expected: { closeCode: 1002, text: 'A message began before the previous one was finished' },
  // Section 5.5, control frames
  control_fragmented: { closeCode: 1002, text: 'A control frame must not be fragmented' },
  control_too_long: { closeCode: 1002, text: 'A control frame carries at most 125 bytes' },
  close_length: { closeCode: 1002, text: 'A Close frame carries no byte, or two and more' },
  close_code: { closeCode: 1002, text: 'The close code must not be sent' },
  close_reason: { closeCode: 1007, text: 'The close reason must be UTF-8' },
  // Section 8.1, and RFC 7692, section 7.2.2
  text_not_utf8: { closeCode: 1007, text: 'A text message must be UTF-8' },
  compressed_data: { closeCode: 1007, text: 'The compressed message cannot be decompressed' },
  // Section 10.4, limits of an implementation
  message_too_large: { closeCode: 1009, text: 'The message exceeds the size limit' },
  too_many_fragments: { closeCode: 1009, text: 'The message has too many fragments' },
} as const

export type Violation = keyof typeof violations

/** A broken rule, returned instead of an exception. */
export interface Broken {
  readonly kind: 'broken'
  readonly rule: Violation
}

export function broken(rule: Violation): Broken {
  return { kind: 'broken', rule }
}
