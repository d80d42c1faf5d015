/** The section for global secrets: names and descriptions. The page sends values and never gets them back. */
import { element, fill } from '../dom.ts'
import { listAt, textAt } from '../values.ts'
import { button, field, form, loadFault, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

const path = '/api/settings/secrets'

export async function showSecrets(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const name = element('input', { required: true, spellcheck: 'false', autocapitalize: 'characters' })
  const value = element('input', { type: 'password', autocomplete: 'off', required: true })
  const about = element('input', { dir: 'auto' })
  const load = async (): Promise<void> => {
    const answer = await api.get(path, signal)
    if (signal.aborted) return
    if (answer.status !== 200) return fill(list, element('li', {}, loadFault('The secrets', answer, load)))
    const secrets = listAt(answer.json, 'secrets')
    fill(list, secrets.length === 0 && element('li', { class: 'hint' }, 'No secrets yet'), secrets.map((secret) => {
      const known = textAt(secret, 'name')
      return element('li', { class: 'entry' },
        element('div', {}, element('code', {}, known), element('p', { class: 'hint' }, textAt(secret, 'description'))),
        button('Replace', () => {
          name.value = known
          about.value = textAt(secret, 'description')
          value.focus()
        }, 'small'),
        button('Remove', async () => {
          const removed = await api.delete(`${path}/${encodeURIComponent(known)}`)
          if (status.settle(removed, `${known} is removed.`)) await load()
        }, 'small danger'))
    }))
  }
  const save = async (): Promise<void> => {
    const description = about.value.trim() === '' ? {} : { description: about.value.trim() }
    const answer = await api.put(path, { name: name.value.trim(), value: value.value, ...description })
    if (!status.settle(answer, `${name.value.trim()} is stored, sealed.`, { name, value, description: about })) return
    for (const input of [name, value, about]) input.value = ''
    await load()
  }
  fill(root, element('p', {}, 'Variables of agents and commands, such as keys. The console never shows a value.'), list,
    form(save, element('h2', {}, 'Add or replace'), field('Name', name), field('Value', value),
      field('Description', about), status.element, element('button', { class: 'primary' }, 'Save')))
  await load()
}
