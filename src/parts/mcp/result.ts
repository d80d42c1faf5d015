/**
 * Converts the result of an MCP tool into an observation (contract/payloads.md, MCPToolObservation; MCP 2025-06-18,
 * server/tools, "Tool Result").
 *
 * A structured result is shown as JSON if there is no text. Parts that cannot be shown are counted.
 */
import { isObject } from '../../base/json.ts'
import { textIn } from '../../conversation/log/message-text.ts'
import { toObservation, type Observation } from '../../schema/generated/observations.ts'
import type { ContentInput } from '../../schema/generated/values.ts'
import { memberAt, objectsOf, textOf, type Fields } from '../../base/fields.ts'

/** The most characters of the texts of one result together. */
const textLimitChars = 100_000
/** The most characters of the images of one result together, as data URLs. */
const imageLimitChars = 8 * 1024 * 1024

type Part = { readonly text: string } | { readonly image: string } | undefined

export function observationOf(toolName: string, result: Fields): Observation {
  const all = objectsOf(result['content']).map(partOf)
  const structured = isObject(result['structuredContent']) ? JSON.stringify(result['structuredContent']) : undefined
  const hasText = all.some((part) => part !== undefined && 'text' in part)
  const parts = structured === undefined || hasText ? all : [{ text: structured }, ...all]
  const { kept, left } = limited(parts)
  const notes = left === 0 ? [] : [`[${left} part${left === 1 ? '' : 's'} of the result could not be shown.]`]
  return toObservation({
    kind: 'MCPToolObservation',
    tool_name: toolName,
    is_error: result['isError'] === true,
    content: [text(`[Tool '${toolName}' executed.]`), ...kept.map(contentOf), ...notes.map(text)],
  })
}

export function resultText(result: Fields): string {
  const [, ...content] = observationOf('', result).content
  return textIn(content)
}

/** Returns the observation of an error, for a call without a result. */
export function failedObservation(toolName: string, reason: string): Observation {
  return toObservation({ kind: 'MCPToolObservation', tool_name: toolName, is_error: true, content: [text(reason)] })
}

function partOf(block: Fields): Part {
  const { type } = block
  if (type === 'text' && typeof block['text'] === 'string') return { text: block['text'] }
  if (type === 'image') return imageOf(block['mimeType'], block['data'])
  if (type === 'resource_link' && typeof block['uri'] === 'string') {
    return { text: `[Resource ${textOf(block['name']) ?? ''}: ${block['uri']}]` }
  }
  if (type !== 'resource') return undefined
  const content = memberAt(block, 'resource', 'text')
  if (typeof content === 'string') {
    return { text: `[Resource ${String(memberAt(block, 'resource', 'uri'))}]\n${content}` }
  }
  return imageOf(memberAt(block, 'resource', 'mimeType'), memberAt(block, 'resource', 'blob'))
}

/** Returns the image as a data URL; undefined for a type other than an image type, and for invalid base64. */
function imageOf(type: unknown, data: unknown): Part {
  if (typeof type !== 'string' || !/^image\/[\w.+-]{1,100}$/.test(type)) return undefined
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined
  return { image: `data:${type};base64,${data}` }
}

function limited(parts: readonly Part[]): {
  readonly kept: readonly Exclude<Part, undefined>[]
  readonly left: number
} {
  const kept: Exclude<Part, undefined>[] = []
  let textChars = textLimitChars
  let imageChars = imageLimitChars
  for (const part of parts) {
    if (part === undefined) continue
    if ('image' in part) {
      imageChars -= part.image.length
      if (imageChars >= 0) kept.push(part)
      continue
    }
    if (textChars > 0) kept.push({ text: cut(part.text, textChars) })
    textChars -= part.text.length
  }
  return { kept, left: parts.length - kept.length }
}

function cut(whole: string, limit: number): string {
  return whole.length <= limit ? whole : `${whole.slice(0, limit)}\n[cut: ${whole.length - limit} more characters]`
}

function contentOf(part: Exclude<Part, undefined>): ContentInput {
  return 'image' in part ? { type: 'image', image_urls: [part.image] } : text(part.text)
}

function text(value: string): ContentInput {
  return { type: 'text', text: value }
}
