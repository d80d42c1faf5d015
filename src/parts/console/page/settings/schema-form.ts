/**
 * The settings of agents and conversations as forms, made from the server's schemas. Only changed fields are sent. A
 * secret field that stays empty keeps the stored value.
 */
import type { Answer } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, memberAt, textAt, type Members } from '../values.ts'
import { field, form, loadFault, Status, tellAt } from '../widgets.ts'
import { fieldsOf, isOn, readControl, shownValue, type SchemaField } from './schema-field.ts'
import type { SectionContext } from './section.ts'

interface Source {
  readonly schema: string
  /** The member of the settings that the schema describes. Changes are sent in the member with the suffix `_diff`. */
  readonly member: string
  readonly title: string
}

const sources: readonly Source[] = [
  { schema: '/api/settings/agent-schema', member: 'agent_settings', title: 'Agent' },
  { schema: '/api/settings/conversation-schema', member: 'conversation_settings', title: 'Conversations' },
]

export async function showAgentSettings(root: HTMLElement, context: SectionContext): Promise<void> {
  const { api, signal } = context
  const fail = (answer: Answer): void => {
    fill(root, loadFault('The settings', answer, () => showAgentSettings(root, context)))
  }
  const settings = await api.get('/api/settings', signal)
  if (signal.aborted) return
  if (settings.status !== 200) return fail(settings)
  const kind = textAt(settings.json, 'agent_settings', 'agent_kind') === 'acp' ? 'acp' : 'openhands'
  fill(root, element('p', {}, 'For new conversations. ',
    element('a', { href: '#/welcome/agent' }, 'Choose another agent')))
  for (const { schema, member, title } of sources) {
    const described = await api.get(schema, signal)
    if (signal.aborted) return
    if (described.status !== 200) return fail(described)
    const values = memberAt(settings.json, member)
    root.append(element('section', {}, element('h2', {}, title),
      ...sectionsOf(described.json, kind).map((section) => {
        return sectionForm(section, values, (diff) => api.patch('/api/settings', { [`${member}_diff`]: diff }))
      })))
  }
}

interface Section {
  readonly title: string
  readonly fields: readonly SchemaField[]
}

/** Returns the sections for an agent kind. External agents get no section `llm`: they call their models themselves. */
function sectionsOf(schema: unknown, kind: string): Section[] {
  return listAt(schema, 'sections').flatMap((section): Section[] => {
    const variant = textAt(section, 'variant')
    if (variant !== '' && variant !== kind) return []
    if (kind === 'acp' && textAt(section, 'key') === 'llm') return []
    const fields = fieldsOf(section).filter((one) => one.variant === '' || one.variant === kind)
    return fields.length === 0 ? [] : [{ title: textAt(section, 'label'), fields }]
  })
}

type Save = (diff: Members) => ReturnType<SectionContext['api']['patch']>

interface Entry {
  readonly one: SchemaField
  readonly control: Control
  readonly row: HTMLElement
}

function sectionForm({ title, fields }: Section, values: unknown, save: Save): HTMLElement {
  const status = new Status()
  // A copy of the server's values. `saveChanges` puts saved changes into the copy.
  const stored: Record<string, unknown> = { ...Object(values) }
  const entries = fields.map((one): Entry => {
    const control = controlOf(one, values)
    return { one, control, row: field(one.label, control, one.about) }
  })
  const send = (): Promise<void> => saveChanges(entries, stored, save, status)
  const rows = (isMinor: boolean): HTMLElement[] => {
    return entries.filter(({ one }) => one.isMinor === isMinor).map(({ row }) => row)
  }
  const minor = rows(true)
  const made = form(send, element('h3', {}, title), ...rows(false),
    minor.length > 0 && element('details', {}, element('summary', {}, `${minor.length} more`), ...minor),
    status.element, element('button', {}, 'Save'))
  made.addEventListener('input', () => showDependent(entries))
  showDependent(entries)
  return made
}

/** Shows a field only while each field in its `dependsOn` is on (`isOn`). */
function showDependent(entries: readonly Entry[]): void {
  const inUse = entries.filter(({ one, control }) => isOn(one, stateOf(control)))
  const on = new Set(inUse.map(({ one }) => one.path.join('.')))
  for (const { one, row } of entries) row.hidden = !one.dependsOn.every((key) => on.has(key))
}

/** Sends the changes together. After status 422 sends each change by itself, to save all but the refused fields. */
async function saveChanges(
  entries: readonly Entry[], stored: Record<string, unknown>, save: Save, status: Status,
): Promise<void> {
  const changes = changesOf(entries, stored)
  if (changes === undefined) return status.fail('')
  if (changes.length === 0) return status.tell('Nothing has changed.')
  const diff: Record<string, unknown> = {}
  for (const { entry, value } of changes) put(diff, entry.one.path, value)
  const answer = await save(diff)
  const refused = answer.status === 422 ? await findRefused(changes, save) : answer.status === 200 ? [] : answer
  if (!Array.isArray(refused)) return void status.settle(refused, 'Saved.')
  for (const change of changes.filter((one) => !refused.includes(one))) {
    put(stored, change.entry.one.path, change.value)
    if (change.entry.one.isSecret) change.entry.control.value = ''
  }
  if (refused.length === 0) return status.tell('Saved.')
  for (const { entry } of refused) tellAt(entry.control, 'The server refuses this value.')
  refused[0]?.entry.control.focus()
  status.fail(changes.length === 1 ? '' : `${changes.length - refused.length} of ${changes.length} changes are saved.`)
}

interface Change {
  readonly entry: Entry
  readonly value: unknown
}

/** Returns the changed values. If a text does not fit its field, shows the problem there and returns undefined. */
function changesOf(entries: readonly Entry[], stored: unknown): Change[] | undefined {
  const readings = entries.map((entry) => {
    return { entry, read: readControl(entry.one, stateOf(entry.control), memberAt(stored, ...entry.one.path)) }
  })
  const wrong = readings.filter(({ read }) => read.kind === 'wrong')
  for (const { entry, read } of wrong) if (read.kind === 'wrong') tellAt(entry.control, read.problem)
  wrong[0]?.entry.control.focus()
  if (wrong.length > 0) return undefined
  return readings.flatMap(({ entry, read }) => (read.kind === 'changed' ? [{ entry, value: read.value }] : []))
}

async function findRefused(changes: readonly Change[], save: Save): Promise<Change[] | Answer> {
  const refused: Change[] = []
  for (const change of changes) {
    const diff: Record<string, unknown> = {}
    put(diff, change.entry.one.path, change.value)
    const answer = await save(diff)
    if (answer.status === 422) refused.push(change)
    else if (answer.status !== 200) return answer
  }
  return refused
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function controlOf(one: SchemaField, values: unknown): Control {
  const value = memberAt(values, ...one.path)
  if (one.type === 'boolean') return element('input', { type: 'checkbox', checked: value === true })
  if (one.choices.length > 0) {
    const isListed = one.choices.some((choice) => choice.value === value)
    const offered = isListed ? one.choices : [{ value: '', label: 'Not set' }, ...one.choices]
    return element('select', {}, offered.map((choice) => {
      return element('option', { value: choice.value, selected: choice.value === value }, choice.label)
    }))
  }
  if (one.type === 'array' || one.type === 'object') {
    return element('textarea', { rows: 2, spellcheck: 'false' }, shownValue(one, value))
  }
  return element('input', {
    type: one.isSecret ? 'password' : 'text', autocomplete: 'off', spellcheck: 'false',
    value: one.isSecret ? '' : shownValue(one, value),
    placeholder: one.isSecret ? (value === null || value === undefined ? 'Not set' : 'Set') : '',
    inputmode: one.type === 'integer' ? 'numeric' : undefined,
  })
}

function stateOf(control: Control): string | boolean {
  return control instanceof HTMLInputElement && control.type === 'checkbox' ? control.checked : control.value
}

/** Sets the value at a path in `target`. Nested objects on the path are replaced by changed copies. */
function put(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner: Record<string, unknown> = { ...Object(target[name]) }
  put(inner, rest, value)
  target[name] = inner
}
