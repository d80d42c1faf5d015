/** The panel for files of the workspace, read only: the changes that git lists, and any file by its path. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { isObject, textAt } from '../values.ts'
import { button, codeText, softLine } from './controls.ts'
import { diffView } from './diff-view.ts'
import { textNodes } from './text-nodes.ts'
import { cutText } from './text-view.ts'

export interface FilesOptions {
  readonly api: Api
  readonly id: string
  readonly folder: () => string
}

/** The most bytes of a file that the page shows. */
const fileLimit = 8 * 1024 * 1024

export function filesPanel(options: FilesOptions): HTMLElement {
  const { api, folder } = options
  const shown = element('div', { class: 'file-shown' })
  const list = element('ul', { class: 'changes' })
  const words = 'Path in the workspace'
  const path = element('input', { type: 'text', placeholder: words, 'aria-label': words, dir: 'ltr' })
  const refresh = async (): Promise<void> => {
    const { json } = await api.get(`/api/git/changes?path=${encodeURIComponent(folder())}`)
    const changes = Array.isArray(json) ? json.filter(isObject) : []
    const items = changes.map((change) => {
      const [status, name] = [textAt(change, 'status'), textAt(change, 'path')]
      const sign = element('span', { class: `change change-${status.toLowerCase()}` }, status.slice(0, 1))
      const open = (): void => void showChange(options, name, shown)
      return element('li', {}, button('found-event', [sign, codeText(name)], open))
    })
    fill(list, items.length === 0 ? element('li', { class: 'soft' }, 'Nothing differs from git') : items)
  }
  const form = element('form', {
    class: 'line-form', onsubmit: (event) => {
      event.preventDefault()
      void showFile(options, path.value.trim(), shown)
    },
  }, path, element('button', { type: 'submit' }, 'Show'))
  void refresh()
  return element('div', { class: 'panel-body' },
    element('header', {}, element('strong', {}, 'Changes'),
      button('small', 'Refresh', () => void refresh())), list, form, shown)
}

async function showChange({ api, folder }: FilesOptions, name: string, place: HTMLElement): Promise<void> {
  const path = name.startsWith('/') ? name : `${folder()}/${name}`
  const { status, json } = await api.get(`/api/git/diff?path=${encodeURIComponent(path)}`)
  if (status !== 200) return fill(place, softLine(textAt(json, 'detail') || 'The difference cannot be read'))
  fill(place, diffView(name, textAt(json, 'original'), textAt(json, 'modified')))
}

/** Shows an image as an image and any other file as text, so that no file of a workspace is opened as a page. */
async function showFile({ api, id }: FilesOptions, path: string, place: HTMLElement): Promise<void> {
  const address = path.split('/').filter((part) => part !== '').map(encodeURIComponent).join('/')
  const blob = await api.blob(`/api/conversations/${encodeURIComponent(id)}/workspace/${address}`)
  if (blob === undefined) return fill(place, softLine('This file cannot be read'))
  if (blob.size > fileLimit) return fill(place, softLine(`${blob.size.toLocaleString()} bytes are too many to show`))
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(blob.type)) {
    const src = URL.createObjectURL(blob)
    const image = element('img', { src, alt: path, class: 'picture' })
    image.addEventListener('load', () => URL.revokeObjectURL(src))
    return fill(place, image)
  }
  const text = await blob.text()
  fill(place, cutText(text, (part) => element('pre', { class: 'output', dir: 'ltr' }, textNodes(part))))
}
