/** Lists the changes between two sources: lines, routes, options, uses of powers, casts and swallowed errors. */
import { sizesOf } from '../shape/sizes.ts'
import type { SourceFile } from '../shape/source-file.ts'
import { castsOf } from '../shape/style.ts'
import { optionsOf, packagesOf, powerUsesOf, routesOf } from './surface.ts'
import { findSwallowed } from './swallowed.ts'

export interface Changes {
  /** Lines before and now, of the core and of each part that has changed. */
  readonly lines: readonly { readonly unit: string; readonly before: number; readonly now: number }[]
  /** The new items and the removed ones, by their kind. */
  readonly added: Readonly<Record<string, readonly string[]>>
  readonly removed: Readonly<Record<string, readonly string[]>>
}

export function changesBetween(before: readonly SourceFile[], now: readonly SourceFile[]): Changes {
  const [old, current] = [linesOf(before), linesOf(now)]
  const units = [...new Set([...current.keys(), ...old.keys()])]
  return {
    lines: units.map((unit) => ({ unit, before: old.get(unit) ?? 0, now: current.get(unit) ?? 0 }))
      .filter((one) => one.before !== one.now),
    added: differences(listsOf(now), listsOf(before)),
    removed: differences(listsOf(before), listsOf(now)),
  }
}

function linesOf(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  return new Map(sizesOf(files).map(({ unit, lines }) => [unit, lines]))
}

type Lists = Readonly<Record<string, readonly string[]>>

/** Places have no line numbers here, because a line that moved is no change. */
function listsOf(files: readonly SourceFile[]): Lists {
  return {
    powers: powerUsesOf(files).map(({ power, file, door }) => `${power}: ${file}: ${door}`),
    routes: routesOf(files).map(({ name }) => name),
    options: optionsOf(files).map(({ name }) => name),
    casts: files.flatMap((file) => castsOf(file).map((_, index) => `${file.path} (${index + 1})`)),
    'swallowed errors': files.flatMap(findSwallowed)
      .map(({ file, code, reason }) => `${file}: ${code} // ${reason ?? 'no reason'}`),
    packages: packagesOf(files).map(({ file, name }) => `${file}: ${name}`),
  }
}

function differences(all: Lists, others: Lists): Lists {
  return Object.fromEntries(Object.entries(all).map(([name, list]) => {
    const known = new Set(others[name])
    return [name, [...new Set(list)].filter((one) => !known.has(one))]
  }))
}
