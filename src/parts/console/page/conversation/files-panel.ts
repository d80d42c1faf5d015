/** The panel for files of the workspace: the changes that git lists, and a tree of all files. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { isObject, textAt } from '../values.ts'
import { loadFault } from '../widgets.ts'
import { button, codeText } from './controls.ts'
import { fileTree } from './file-tree.ts'
import { showChange, showFile } from './file-view.ts'

export interface FilesOptions {
  readonly api: Api
  readonly id: string
  /** Returns the folder of the workspace; empty until the page has read it. */
  readonly folder: () => string
}

export function filesPanel({ api, id, folder }: FilesOptions): HTMLElement {
  const changes = element('ul', { class: 'changes' })
  const tree = element('div', { class: 'file-tree' })
  const readChanges = async (): Promise<void> => {
    const answer = await api.get(`/api/git/changes?path=${encodeURIComponent(folder())}`)
    if (answer.status !== 200) return fill(changes, element('li', {}, loadFault('The changes', answer, readChanges)))
    const found = Array.isArray(answer.json) ? answer.json.filter(isObject) : []
    const items = found.map((change) => {
      const [status, name] = [textAt(change, 'status'), textAt(change, 'path')]
      const look = `change change-${status.toLowerCase()}`
      const sign = element('span', { class: look, title: status }, status.slice(0, 1))
      const path = name.startsWith('/') ? name : `${folder()}/${name}`
      const open = (): void => void showChange(api, path, name)
      return element('li', {}, button('found-event', [sign, codeText(name)], open))
    })
    fill(changes, items.length === 0 ? element('li', { class: 'soft' }, 'Nothing differs from git') : items)
  }
  const read = (): void => {
    void readChanges()
    fill(tree, fileTree(api, id, (path, size) => void showFile({ api, id, path, size })))
  }
  read()
  return element('div', { class: 'panel-body' },
    element('header', {}, element('strong', {}, 'Changes'), button('small', 'Refresh', read)), changes,
    element('header', {}, element('strong', {}, 'All files')), tree)
}
