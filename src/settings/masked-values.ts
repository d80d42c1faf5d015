/**
 * Registers stored secrets with the masker.
 *
 * A replaced or removed value stays registered, because a running agent may still have it. The oldest of these values
 * is released when there are more than `retiredLimit`, or when the masker has no room.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Masker } from '../base/masking.ts'

/** The most replaced or removed secrets that stay registered. */
const retiredLimit = 100

/** Registers a secret's current values for masking; [] for none. @throws AppError `invalid_input` without room */
export type MaskedValues = (name: string, values: readonly string[]) => void

export function createMaskedValues(masker: Masker): MaskedValues {
  const current = new Map<string, { readonly values: readonly string[]; readonly release: () => void }>()
  const retired: (() => void)[] = []
  /** Registers values. If the masker is full, first releases values that are no longer stored, the oldest first. */
  const register = (values: readonly string[]): (() => void) => {
    for (;;) {
      try {
        return masker.register(values)
      } catch (error) {
        const oldest = retired.shift()
        if (oldest === undefined) throw error
        oldest()
      }
    }
  }
  return (name, values) => {
    const previous = current.get(name)
    // A repeated request, such as one that fails on a full disk, must not push other values out of `retired`.
    if (isDeepStrictEqual(values, previous?.values ?? [])) return
    const release = register(values)
    if (previous !== undefined) retired.push(previous.release)
    if (retired.length > retiredLimit) retired.shift()?.()
    if (values.length === 0) current.delete(name)
    else current.set(name, { values, release })
  }
}
