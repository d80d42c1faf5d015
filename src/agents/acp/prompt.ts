/**
 * User messages as the content blocks of one `session/prompt` (ACP v1, content). Pure.
 *
 * Several queued messages go out in order in one prompt. Text that hooks or skills added to a message follows it. An image
 * given as a data URL becomes an image block if the agent takes images, any other address a resource link, which every
 * agent takes. A run that was resumed without a message needs some prompt, and gets one that says just that.
 */
import type { MessageEvent } from '../../schema/generated/events.ts'

export type PromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }

const resumed: PromptBlock = { type: 'text', text: 'Continue with the task from where you were stopped.' }

export function promptBlocks(messages: readonly MessageEvent[], takesImages: boolean): readonly PromptBlock[] {
  const blocks = messages.flatMap((message) => blocksOf(message, takesImages))
  return blocks.length === 0 ? [resumed] : blocks
}

function blocksOf(message: MessageEvent, takesImages: boolean): readonly PromptBlock[] {
  return [...message.llm_message.content, ...message.extended_content].flatMap((content): readonly PromptBlock[] => {
    if (content.type === 'text') return content.text === '' ? [] : [{ type: 'text', text: content.text }]
    return content.image_urls.map((url) => imageBlock(url, takesImages))
  })
}

/** data:<type>;base64,<data> */
const dataUrl = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+);base64,/i

function imageBlock(url: string, takesImages: boolean): PromptBlock {
  const match = dataUrl.exec(url)
  if (match === null) return { type: 'resource_link', uri: url, name: 'image' }
  if (!takesImages) return { type: 'text', text: '[An image was attached here, but this agent does not take images]' }
  return { type: 'image', mimeType: match[1] ?? '', data: url.slice(match[0].length) }
}
