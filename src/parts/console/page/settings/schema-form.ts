/**
 * The settings of agents and conversations as forms, made from the schema routes: a control for each field by its type.
 *
 * Only changed fields are sent. A secret field is shown empty; while it stays empty, the stored value is kept.
 */
import { problemOf } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, memberAt, textAt, type Members } from '../values.ts'
import { field, form, Status } from '../widgets.ts'
import { fieldsOf, readControl, shownValue, type SchemaField } from './schema-field.ts'
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

export async function showAgentSettings(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const settings = await api.get('/api/settings', signal)
  if (settings.status !== 200) return fill(root, element('p', { class: 'fault' }, problemOf(settings)))
  const kind = textAt(settings.json, 'agent_settings', 'agent_kind') === 'acp' ? 'acp' : 'openhands'
  fill(root, element('p', {}, 'For new conversations. ',
    element('a', { href: '#/welcome/agent' }, 'Choose another agent')))
  for (const { schema, member, title } of sources) {
    const described = await api.get(schema, signal)
    if (signal.aborted) return
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

/** Returns the sections for a kind of agent. External agents choose their model themselves and get no section `llm`. */
function sectionsOf(schema: unknown, kind: string): Section[] {
  return listAt(schema, 'sections').flatMap((section): Section[] => {
    const variant = textAt(section, 'variant')
    if (variant !== '' && variant !== kind) return []
    if (kind === 'acp' && textAt(section, 'key') === 'llm') return []
    const fields = fieldsOf(section).filter((one) => one.variant === '' || one.variant === kind)
    return fields.length === 0 ? [] : [{ title: textAt(section, 'label'), fields }]
  })
}

function sectionForm(
  { title, fields }: Section, values: unknown, save: (diff: Members) => ReturnType<SectionContext['api']['patch']>,
): HTMLElement {
  const status = new Status()
  const controls = fields.map((one) => ({ one, control: controlOf(one, values) }))
  const send = async (): Promise<void> => {
    const diff: Record<string, unknown> = {}
    for (const { one, control } of controls) {
      const read = readControl(one, stateOf(control), memberAt(values, ...one.path))
      if (read.kind === 'wrong') return status.fail(`${one.label}: ${read.problem}`)
      if (read.kind === 'changed') put(diff, one.path, read.value)
    }
    if (Object.keys(diff).length === 0) return status.tell('Nothing has changed.')
    status.settle(await save(diff), 'Saved.')
  }
  const rows = (isMinor: boolean): HTMLElement[] => controls
    .filter(({ one }) => one.isMinor === isMinor)
    .map(({ one, control }) => field(one.label, control, one.about))
  const minor = rows(true)
  return form(send, element('h3', {}, title), ...rows(false),
    minor.length > 0 && element('details', {}, element('summary', {}, `${minor.length} more`), ...minor),
    status.element, element('button', {}, 'Save'))
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function controlOf(one: SchemaField, values: unknown): Control {
  const value = memberAt(values, ...one.path)
  if (one.type === 'boolean') return element('input', { type: 'checkbox', checked: value === true })
  if (one.choices.length > 0) {
    const isListed = one.choices.some((choice) => choice === value)
    const offered = isListed ? one.choices : ['', ...one.choices]
    return element('select', {}, offered.map((choice) => {
      return element('option', { value: choice, selected: choice === value }, choice || 'Not set')
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

function put(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[name] = value
  else target[name] = { ...Object(target[name]), [rest[0] ?? '']: value }
}
