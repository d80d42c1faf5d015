/** A tree of the folders and files of a workspace. A folder is read when it is first opened, a page at a time. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { memberAt, numberAt, textAt, type Members } from '../values.ts'
import { loadFault } from '../widgets.ts'
import { button, codeText, soft, softLine } from './controls.ts'
import { objectsAt } from './fields.ts'
import { folded } from './text-view.ts'
import { sizeText } from './words.ts'

/** Opens a file by its path in the workspace. `size` is its size in bytes. */
export type OpenFile = (path: string, size: number) => void

/** Returns the tree of a conversation's workspace. */
export function fileTree(api: Api, id: string, open: OpenFile): HTMLElement {
  return folderView({ api, address: `/api/conversations/${encodeURIComponent(id)}/workspace-entries`, open }, '')
}

interface Tree {
  readonly api: Api
  readonly address: string
  readonly open: OpenFile
}

function folderView(tree: Tree, path: string): HTMLElement {
  const list = element('ul', {}, element('li', { class: 'soft' }, '…'))
  const read = async (page: string): Promise<void> => {
    const more = page === '' ? '' : `&page_id=${encodeURIComponent(page)}`
    const answer = await tree.api.get(`${tree.address}?path=${encodeURIComponent(path)}${more}`)
    if (page === '') fill(list)
    list.querySelector(':scope > .more-entries')?.remove()
    if (answer.status !== 200) {
      const fault = loadFault(path === '' ? 'The folder' : path, answer, () => read(page))
      return list.append(element('li', { class: 'more-entries' }, fault))
    }
    list.append(...objectsAt(answer.json, 'items').map((entry) => entryView(tree, path, entry)))
    const next = textAt(answer.json, 'next_page_id')
    if (next !== '') {
      list.append(element('li', { class: 'more-entries' }, button('small', 'More', () => void read(next))))
    } else if (memberAt(answer.json, 'is_complete') === false) list.append(element('li', {}, softLine('And more')))
    if (list.childElementCount === 0) list.append(element('li', {}, soft('Empty')))
  }
  void read('')
  return list
}

function entryView(tree: Tree, folder: string, entry: Members): HTMLElement {
  const name = textAt(entry, 'name')
  const path = folder === '' ? name : `${folder}/${name}`
  const size = numberAt(entry, 'size') ?? 0
  switch (textAt(entry, 'kind')) {
    case 'directory': return element('li', {}, folded(codeText(`${name}/`), () => folderView(tree, path)))
    case 'file':
      return element('li', {}, button('found-event', [codeText(name), soft(sizeText(size))],
        () => tree.open(path, size)))
    default: return element('li', { class: 'soft' }, codeText(name), soft(' link or special file'))
  }
}
