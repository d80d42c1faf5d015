/**
 * Finds the output of a tool call. Pure.
 *
 * Agents put the output into different members. The first member with an output is used.
 */
import { isEmpty, memberAt, objectOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { diffsOf, type ToolCall } from './tool-calls.ts'

export interface Output {
  readonly text: string
  /** The images, as data URLs. */
  readonly images: readonly string[]
}

const nothing: Output = { text: '', images: [] }

export function outputOf(call: ToolCall): Output {
  if (call.terminalOutput !== '') return { text: call.terminalOutput, images: [] }
  const raw = rawOutputOf(call.rawOutput)
  if (raw !== undefined) return raw
  const content = call.contentIsOutput ? blocksOf(call.content.map((item) => objectOf(item['content']))) : nothing
  const isShown = content.text !== '' || content.images.length > 0
  if (isShown || isEmpty(call.rawOutput) || diffsOf(call).length > 0) return content
  return { text: JSON.stringify(call.rawOutput), images: [] }
}

/** The most characters of an output that are stored, in the event or in the output's file. */
const keptLimitChars = 1_000_000

/** Returns the output of a call. A text above `keptLimitChars` is cut there and gets a note at the end. */
export function keptOutputOf(call: ToolCall): Output {
  const output = outputOf(call)
  if (output.text.length <= keptLimitChars) return output
  return { ...output, text: `${output.text.slice(0, keptLimitChars)}\n[The rest of the output was too long to keep]\n` }
}

/** Replaces the middle of a long text by a line that names the file with the whole text. */
export function shorten(text: string, limitChars: number, fileName: string): string {
  if (text.length <= limitChars) return text
  const note = `\n[... ${text.length} characters in all; the complete output is in observations/${fileName} ...]\n`
  const half = Math.floor((limitChars - note.length) / 2)
  return `${text.slice(0, half)}${note}${text.slice(-half)}`
}

/** The image types that model APIs accept. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Matches characters of base64 with at most two `=` at the end (RFC 4648, section 4). The length is not checked. */
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The results of checks of image blocks. A block is read several times, and the check of 15 MB takes 30 ms. */
const knownUrls = new WeakMap<Fields, { readonly url: string | undefined }>()

/**
 * Returns the data URL of a base64 image block of a known type; undefined for any other block. An image without a type
 * counts as PNG (old ACP).
 */
export function imageUrl(block: Fields): string | undefined {
  if (block['type'] !== 'image') return undefined
  const known = knownUrls.get(block)
  if (known !== undefined) return known.url
  const url = urlOf(block)
  knownUrls.set(block, { url })
  return url
}

function urlOf(block: Fields): string | undefined {
  const data = textOf(block['data'])
  const type = block['mimeType'] === undefined || block['mimeType'] === null ? 'image/png' : block['mimeType']
  if (data === undefined || typeof type !== 'string') return undefined
  return imageTypes.includes(type) && base64.test(data) ? `data:${type};base64,${data}` : undefined
}

/** Returns the text or URI of a block, or a note for audio or a bad image; '' for any other block. */
export function blockText(block: Fields): string {
  if (typeof block['text'] === 'string') return block['text']
  if (block['type'] === 'audio') return '[An audio was left out here]'
  if (block['type'] === 'image' && imageUrl(block) === undefined) {
    return '[An image was left out here: it is no PNG, JPEG, GIF or WebP in base64]'
  }
  if (block['type'] === 'resource_link') return textOf(block['uri']) ?? ''
  const resource = objectOf(block['resource'])
  return textOf(resource['text']) ?? textOf(resource['uri']) ?? ''
}

function rawOutputOf(raw: unknown): Output | undefined {
  if (typeof raw === 'string') return { text: raw, images: [] }
  // The raw output is the list of blocks itself (Claude) or an object with the list, in a member that varies by agent.
  const members = [['content'], ['result', 'content'], ['observation', 'content']]
  const places = [raw, ...members.map((path) => memberAt(raw, ...path))]
  const output = blocksOf(places.map(objectsOf).find((blocks) => blocks.length > 0) ?? [])
  if (output.text !== '' || output.images.length > 0) return output
  const text = textOf(memberAt(raw, 'output')) ?? textOf(memberAt(raw, 'content')) ?? resultText(raw)
  return text === undefined ? undefined : { text, images: [] }
}

/**
 * Returns the text of Cline's raw output: a result, or a list with a result for each command. Returns undefined for any
 * other output, and when all texts are empty.
 */
function resultText(raw: unknown): string | undefined {
  const results = Array.isArray(raw) ? objectsOf(raw) : objectsOf([raw])
  if (!results.some(({ success }) => typeof success === 'boolean')) return undefined
  const texts = results.map(({ result, error }) => textOf(result) ?? textOf(error) ?? '')
  return textOf(texts.filter((text) => text !== '').join('\n'))
}

function blocksOf(blocks: readonly Fields[]): Output {
  const texts = blocks.map(blockText).filter((text) => text !== '')
  const images = blocks.flatMap((block) => imageUrl(block) ?? [])
  return { text: texts.map(withoutFence).join('\n'), images }
}

/** Removes the fence of backticks around a text. Takes linear time, even for a text of backticks alone. */
function withoutFence(text: string): string {
  const fence = /^`{3,}/.exec(text)?.[0]
  const first = text.indexOf('\n')
  if (fence === undefined || first === -1 || !/^[\w-]*$/.test(text.slice(fence.length, first))) return text
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  if (!body.endsWith(fence) || body.length - fence.length <= first) return text
  const inside = body.slice(first + 1, -fence.length)
  return inside.endsWith('\n') ? inside.slice(0, -1) : inside
}
