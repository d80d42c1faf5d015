/**
 * Makes a progress line for a tool call whose input is still being written, for streaming clients. Pure.
 *
 * The line is sent as `reasoning_content` of a StreamingDeltaEvent (decisions 2). It changes with the call's title or
 * kind, and when the length of the call's longest text reaches 256 characters or a higher power of two.
 */
import { diffsOf, type ToolCall } from './tool-calls.ts'

const smallestChars = 256

export function progressOf(call: ToolCall): string {
  const chars = sizeOf(call)
  const told = chars < smallestChars ? '' : `, ${2 ** Math.floor(Math.log2(chars))} characters or more`
  return `\n[Preparing: ${call.title === '' ? call.kind : call.title}${told}]\n`
}

/** Returns the length of the longest text in the input and the diffs. */
function sizeOf(call: ToolCall): number {
  const { input } = call
  const members: readonly unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [input]
  return [...members, ...diffsOf(call).map(({ newText }) => newText)].reduce((longest: number, text) => {
    return typeof text === 'string' ? Math.max(longest, text.length) : longest
  }, 0)
}
