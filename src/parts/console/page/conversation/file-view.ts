/** Shows a file of the workspace in a dialog, as an image or as text, so that no script in the file runs. */
import type { Api } from '../api.ts'
import { element, fill, type Child } from '../dom.ts'
import { textAt } from '../values.ts'
import { loadFault } from '../widgets.ts'
import { button, codeText, softLine } from './controls.ts'
import { diffView } from './diff-view.ts'
import { textNodes } from './text-nodes.ts'
import { copyButton, cutText } from './text-view.ts'
import { sizeText } from './words.ts'

export interface ShownFile {
  readonly api: Api
  readonly id: string
  /** The path in the workspace. */
  readonly path: string
  /** The size in bytes. */
  readonly size: number
}

/** The most bytes of a file that the page shows. */
const fileLimit = 8 * 1024 * 1024
/** The number of bytes at the start of a file that are searched for a NUL. A NUL means that the file is not text. */
const lookedAt = 8000

export async function showFile(file: ShownFile): Promise<void> {
  const place = openDialog(file.path)
  fill(place, file.size > fileLimit ? tooLarge(file.size) : await contentOf(file))
}

/** Shows how a file differs from its version in git. `path` is the absolute path, `name` the path to show. */
export async function showChange(api: Api, path: string, name: string): Promise<void> {
  const place = openDialog(name)
  const read = async (): Promise<void> => {
    const answer = await api.get(`/api/git/diff?path=${encodeURIComponent(path)}`)
    fill(place, answer.status === 200
      ? diffView('', textAt(answer.json, 'original'), textAt(answer.json, 'modified'))
      : loadFault('The difference', answer, read))
  }
  await read()
}

async function contentOf({ api, id, path }: ShownFile): Promise<Child> {
  const address = path.split('/').filter((part) => part !== '').map(encodeURIComponent).join('/')
  const blob = await api.blob(`/api/conversations/${encodeURIComponent(id)}/workspace/${address}`)
  if (blob === undefined) return softLine('This file cannot be read')
  if (blob.size > fileLimit) return tooLarge(blob.size)
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(blob.type)) return imageOf(blob, path)
  if (new Uint8Array(await blob.slice(0, lookedAt).arrayBuffer()).includes(0)) {
    return softLine(`This file is no text: ${sizeText(blob.size)}`)
  }
  const text = await blob.text()
  return [copyButton(() => text), cutText(text, (part) => element('pre', { class: 'output' }, textNodes(part)))]
}

function tooLarge(bytes: number): Child {
  return softLine(`${sizeText(bytes)} are too much to show; the limit is ${sizeText(fileLimit)}`)
}

function imageOf(blob: Blob, alt: string): HTMLElement {
  const src = URL.createObjectURL(blob)
  const image = element('img', { src, alt, class: 'picture' })
  for (const name of ['load', 'error']) image.addEventListener(name, () => URL.revokeObjectURL(src))
  return image
}

/** Opens a dialog with a path in its header. Returns the element for its content. */
function openDialog(path: string): HTMLElement {
  const place = element('div', { class: 'file-shown', dir: 'ltr' }, softLine('…'))
  const dialog = element('dialog', { class: 'panel-dialog', 'aria-label': path })
  fill(dialog, element('header', {}, codeText(path, 'path'),
    button('quiet-button', '×', () => dialog.close(), { 'aria-label': 'Close' })), place)
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  return place
}
