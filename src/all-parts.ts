/** All parts of this build as a list, and their options as one table. */
import type { OptionTable, OptionValues } from './option.ts'
import type { Part } from './part.ts'
import * as parts from './parts.ts'

export const allParts: readonly Part[] = Object.values<Part>(parts)

/** The options of all parts. */
export const partOptions: OptionTable = Object.assign({}, ...allParts.map(({ options = {} }) => options))

type Parts = typeof parts
type OptionsOf<P> = P extends { readonly options: infer Table extends OptionTable } ? OptionValues<Table> : never
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (member: infer All) => void ? All : object

/** The values of the options of all parts, for programs that give some. */
export type PartConfig = Intersection<OptionsOf<Parts[keyof Parts]>>
