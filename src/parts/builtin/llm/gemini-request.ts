/**
 * Builds a request to Gemini's `streamGenerateContent` from messages, tools and settings.
 *
 * Consecutive messages of one role become one content, because the API wants the results of an answer's calls together.
 *
 * Rules: ai.google.dev/api/generate-content and ai.google.dev/gemini-api/docs, "Function calling", "Thinking".
 */
import { toJsonObject, type JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { Content } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
import { partsOfAnswer } from './gemini-parts.ts'
import { imageSource } from './message-parts.ts'
import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'

/** Returns the body. Its `contents` begin with the message at index `from`. */
export function geminiBody({ messages, tools }: ModelRequest, model: string, settings: LLM, from = 0): JsonObject {
  const canonical = canonicalName(model, settings)
  const system = messages.filter(({ message }) => message.role === 'system')
    .flatMap(({ message }) => partsOfContent(message.content))
  return {
    contents: geminiItems(messages.slice(from), model, settings),
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
    generationConfig: present({
      temperature: settings.temperature ?? undefined,
      topP: settings.top_p ?? undefined,
      topK: settings.top_k ?? undefined,
      maxOutputTokens: settings.max_output_tokens ?? undefined,
      seed: settings.seed ?? undefined,
      thinkingConfig: thinkingOf(canonical, settings.reasoning_effort),
    }),
    ...toJsonObject(settings.litellm_extra_body),
  }
}

function canonicalName(model: string, settings: LLM): string {
  return settings.model_canonical_name ?? model
}

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

/** Returns a history in the form of the body's member `contents`. */
export function geminiItems(messages: readonly ModelMessage[], model: string, settings: LLM): JsonObject[] {
  const wantsSignatures = versionOf(canonicalName(model, settings)) >= 3
  const names = new Map(messages.flatMap(({ message }) => message.tool_calls ?? []).map(({ id, name }) => [id, name]))
  const turns: Turn[] = []
  for (const each of messages) {
    if (each.message.role === 'system') continue
    const role = each.message.role === 'assistant' ? 'model' : 'user'
    const parts = role === 'model' ? partsOfAnswer(each, wantsSignatures) : partsOfInput(each, names)
    if (parts.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...parts] }
    else turns.push({ role, parts })
  }
  return turns.map(({ role, parts }) => ({ role, parts: resultsFirst(parts) }))
}

function partsOfInput({ message }: ModelMessage, names: ReadonlyMap<string, string>): JsonObject[] {
  if (message.role !== 'tool') return partsOfContent(message.content)
  const id = message.tool_call_id ?? ''
  const output = message.content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n')
  return [
    { functionResponse: { id, name: message.name ?? names.get(id) ?? 'unknown', response: { output } } },
    ...partsOfContent(message.content.filter(({ type }) => type === 'image')),
  ]
}

function resultsFirst(parts: readonly JsonObject[]): JsonObject[] {
  const isResult = (part: JsonObject): boolean => part['functionResponse'] !== undefined
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

function partsOfContent(content: readonly Content[]): JsonObject[] {
  return content.flatMap((part): JsonObject[] => {
    if (part.type === 'image') return part.image_urls.map(imagePart)
    return part.text === '' ? [] : [{ text: part.text }]
  })
}

function imagePart(url: string): JsonObject {
  const source = imageSource(url)
  if ('url' in source) return { fileData: present({ fileUri: url, mimeType: imageTypeOf(url) }) }
  return { inlineData: { mimeType: source.mediaType, data: source.base64 } }
}

const imageTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'], ['jpg', 'image/jpeg'], ['jpeg', 'image/jpeg'], ['webp', 'image/webp'], ['heic', 'image/heic'],
  ['heif', 'image/heif'],
])

/** Returns the media type by the extension of the URL's path; undefined for an unknown extension. */
function imageTypeOf(url: string): string | undefined {
  const path = url.replace(/[?#].*$/s, '')
  return imageTypes.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase())
}

function declarationOf({ name, description, parameters }: ModelTool): JsonObject {
  return { name, description, parametersJsonSchema: parameters }
}

/** Returns the thinking parameters: a budget for Gemini 2.5, a level for later versions; undefined for earlier ones. */
function thinkingOf(model: string, effort: string | null): JsonObject | undefined {
  const version = versionOf(model)
  if (version < 2.5) return undefined
  if (version === 2.5) return { includeThoughts: true, ...budgetOf(effort, model.includes('flash')) }
  const level = Number.isFinite(version) ? levels[effort ?? ''] : undefined
  return { includeThoughts: true, ...(level !== undefined && { thinkingLevel: level }) }
}

/** The thinking level for each `reasoning_effort`. Models from Gemini 3 on always think, so `none` becomes `low`. */
const levels: Readonly<Record<string, string>> = {
  none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high',
}

/**
 * Returns `thinkingBudget` in tokens; `{}` without an effort. A budget of -1 lets the model decide. The smallest budget
 * is 0 for Flash models, and 128 for other models.
 */
function budgetOf(effort: string | null, isFlash: boolean): JsonObject {
  switch (effort) {
    case null:
      return {}
    case 'none':
      return { thinkingBudget: isFlash ? 0 : 128 }
    case 'minimal':
    case 'low':
      return { thinkingBudget: 1_024 }
    case 'medium':
      return { thinkingBudget: 8_192 }
    default:
      return { thinkingBudget: -1 }
  }
}

/** Returns the version, such as 2.5. A Gemini without a number gets `Infinity`, other models 0. */
function versionOf(model: string): number {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model)
  if (match !== null) return Number(match[1])
  return model.includes('gemini-') ? Infinity : 0
}
