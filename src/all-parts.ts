/** All parts (optional components, `part.ts`) of this build, and their options. */
import type { OptionTable, OptionValues } from './option.ts'
import type { Part } from './part.ts'
import * as parts from './parts.ts'

export const allParts: readonly Part[] = Object.values<Part>(parts)

export const partOptions: OptionTable = optionsOf(allParts)

/** Returns one table of the options of these parts. */
export function optionsOf(parts: readonly Part[]): OptionTable {
  return Object.assign({}, ...parts.map(({ options = {} }) => options))
}

type Parts = typeof parts
type OptionsOf<P> = P extends { readonly options: infer Table extends OptionTable } ? OptionValues<Table> : never
type Taker<Member> = (member: Member) => void
type Intersection<Union> = (Union extends unknown ? Taker<Union> : never) extends Taker<infer All> ? All : object

/** The values of the options of all parts. */
export type PartConfig = Intersection<OptionsOf<Parts[keyof Parts]>>
