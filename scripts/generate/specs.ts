/**
 * The definitions and operations of the whole interface: first the definitions of the core, then the definitions of
 * each part in `src/parts.ts`.
 *
 * A spec file of the core has its generated file in `src/schema/generated/`; that of a part is `generated.ts` beside
 * it.
 */
import { allParts } from '../../src/all-parts.ts'
import { specFiles as coreFiles } from '../../src/schema/registry.ts'
import { endpoints as coreEndpoints } from '../../src/schema/spec/api.ts'
import type { Definitions, Endpoint, Schema } from '../../src/schema/spec/define.ts'
import { pathParameters as coreParameters } from '../../src/schema/spec/path-parameters.ts'

export interface SpecFile {
  /** The path of the definitions, below `src`. */
  readonly spec: string
  /** The path of the generated file, below `src`. */
  readonly generated: string
  readonly definitions: Definitions
}

const specs = await Promise.all(allParts.map(async ({ name, spec }) => ({ name, ...(await spec?.()) })))

export const specFiles: readonly SpecFile[] = [
  ...Object.entries(coreFiles).map(([name, definitions]) => ({
    spec: `schema/spec/${name}.ts`, generated: `schema/generated/${name}.ts`, definitions,
  })),
  ...specs.flatMap(({ name, definitions }) => (definitions === undefined ? [] : [{
    spec: `parts/${name}/spec.ts`, generated: `parts/${name}/generated.ts`, definitions,
  }])),
]

export const endpoints: readonly Endpoint[] = [
  ...coreEndpoints, ...specs.flatMap(({ endpoints = [] }) => endpoints),
]

export const pathParameters: Readonly<Record<string, Schema>> = Object.assign(
  {}, coreParameters, ...specs.map(({ pathParameters = {} }) => pathParameters),
)
