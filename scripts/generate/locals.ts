/**
 * The private declarations of one generated file: patterns, and the functions that test or convert lists and maps.
 *
 * Printers ask for a declaration and get its name; the same schema gets the same name. The declarations are printed at
 * the end, and printing one may ask for another.
 */
import type { ArraySchema, MapSchema, Schema } from '../../src/schema/spec/define.ts'

export interface LocalFunction {
  readonly name: string
  readonly work: 'is' | 'to'
  readonly schema: ArraySchema | MapSchema
}

export interface Locals {
  /** Sources of regular expressions with the names of their constants. */
  readonly patterns: ReadonlyMap<string, string>
  /** Grows while it is walked. */
  readonly functions: readonly LocalFunction[]
  pattern(source: string): string
  tester(schema: ArraySchema | MapSchema): string
  converter(schema: ArraySchema | MapSchema): string
}

export function createLocals(): Locals {
  const patterns = new Map<string, string>()
  const functions: LocalFunction[] = []
  const pattern = (source: string): string => {
    const name = patterns.get(source) ?? `pattern${patterns.size + 1}`
    patterns.set(source, name)
    return name
  }
  const request = (work: 'is' | 'to', schema: ArraySchema | MapSchema): string => {
    const key = JSON.stringify(schema)
    const known = functions.find((local) => local.work === work && JSON.stringify(local.schema) === key)
    if (known !== undefined) return known.name
    const noun = `${work}${nounOf(schema)}`
    const namesakes = functions.filter((local) => local.name.startsWith(noun)).length
    const name = namesakes === 0 ? noun : `${noun}${namesakes + 1}`
    functions.push({ name, work, schema })
    return name
  }
  return {
    patterns,
    functions,
    pattern,
    tester: (schema) => request('is', schema),
    converter: (schema) => request('to', schema),
  }
}

/** `TextContentArray`, `StringMap`. */
function nounOf(schema: Schema): string {
  switch (schema.type) {
    case 'reference': return schema.name
    case 'array': return `${nounOf(schema.items)}Array`
    case 'map': return `${nounOf(schema.values)}Map`
    case 'nullable': return `${nounOf(schema.of)}OrNull`
    case 'either': return schema.of.map(nounOf).join('Or')
    default: return `${schema.type.charAt(0).toUpperCase()}${schema.type.slice(1)}`
  }
}
