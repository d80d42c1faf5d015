/** Copies a text to the clipboard. On a page over http from another machine, only `execCommand` works. */
import { element } from '../dom.ts'

/** Copies a text. Returns whether the browser has copied it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text) // `execCommand` may work without the clipboard permission.
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement
  const holder = element('textarea', { class: 'copied-text' })
  holder.value = text
  document.body.append(holder)
  holder.select()
  const isCopied = document.execCommand('copy')
  holder.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
