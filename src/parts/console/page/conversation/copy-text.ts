/** Copies a text to the clipboard. A page that is not secure (http, another machine) has only the older command. */
import { element } from '../dom.ts'

/** Copies a text. Returns false when the browser did not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text) // Without the permission the old way may do.
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
