/** The fields of a settings schema, and their conversion to and from controls. Pure functions. */
import { listAt, memberAt, textAt } from '../values.ts'

export interface Choice {
  readonly value: string
  readonly label: string
}

export interface SchemaField {
  /** The path to the value in the settings: the names of nested members. */
  readonly path: readonly string[]
  readonly label: string
  readonly about: string | undefined
  readonly type: string
  readonly choices: readonly Choice[]
  readonly preset: unknown
  /** The dotted paths of the fields that must be on (`isOn`) for this field to have an effect. */
  readonly dependsOn: readonly string[]
  readonly isSecret: boolean
  readonly isMinor: boolean
  /** The kind of agent that the field is for: `acp` or `openhands`; empty for both. */
  readonly variant: string
}

export function fieldsOf(section: unknown): SchemaField[] {
  return listAt(section, 'fields').map((field) => ({
    path: textAt(field, 'key').split('.'),
    label: textAt(field, 'label'),
    about: textAt(field, 'description') || undefined,
    type: textAt(field, 'value_type'),
    choices: listAt(field, 'choices').map((choice) => {
      return { value: textAt(choice, 'value'), label: textAt(choice, 'label') || textAt(choice, 'value') }
    }),
    preset: memberAt(field, 'default'),
    dependsOn: listAt(field, 'depends_on').map(String),
    isSecret: memberAt(field, 'secret') === true,
    isMinor: textAt(field, 'prominence') === 'minor',
    variant: textAt(field, 'variant'),
  }))
}

/** Returns the text that a control shows for a value. An array or object field is shown as JSON. */
export function shownValue({ type }: Pick<SchemaField, 'type'>, value: unknown): string {
  if (value === null || value === undefined) return ''
  return type === 'array' || type === 'object' ? JSON.stringify(value) : String(value)
}

/** Tells whether a field is on: its checkbox is checked, or its text is neither empty nor the default. */
export function isOn(field: SchemaField, state: string | boolean): boolean {
  return typeof state === 'boolean' ? state : state !== '' && state !== shownValue(field, field.preset)
}

export type Reading =
  | { readonly kind: 'same' }
  | { readonly kind: 'changed'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly problem: string }

/**
 * Compares the state of a control with the stored value `before`. The state is the text, or for a checkbox a boolean.
 * A blank text becomes null. But in a secret field, an empty text means no change.
 */
export function readControl(field: SchemaField, state: string | boolean, before: unknown): Reading {
  if (typeof state === 'boolean') return state === (before === true) ? { kind: 'same' } : changed(state)
  if (field.isSecret) return state === '' ? { kind: 'same' } : changed(state)
  if (state === shownValue(field, before)) return { kind: 'same' }
  if (state.trim() === '') return changed(null)
  if (field.type === 'integer' || field.type === 'number') {
    const number = Number(state)
    const isFit = Number.isFinite(number) && (field.type === 'number' || Number.isInteger(number))
    if (isFit) return changed(number)
    return { kind: 'wrong', problem: field.type === 'integer' ? 'expected an integer' : 'expected a number' }
  }
  return field.type === 'array' || field.type === 'object' ? readJson(state) : changed(state)
}

function readJson(text: string): Reading {
  try {
    return changed(JSON.parse(text))
  } catch {
    return { kind: 'wrong', problem: 'expected JSON' } // The form shows the problem.
  }
}

function changed(value: unknown): Reading {
  return { kind: 'changed', value }
}
