/** All files of `src/schema/generated/`, by name: a pure function of the definitions and the texts they stand in. */
import { specFiles } from '../../src/schema/registry.ts'
import { endpoints } from '../../src/schema/spec/api.ts'
import { pathParameters } from '../../src/schema/spec/path-parameters.ts'
import { createContract } from './contract.ts'
import { printModule } from './modules.ts'
import { printOpenApi } from './openapi.ts'

/** `sourceOf` gives the text of a spec file, named without its ending. */
export function printFiles(sourceOf: (file: string) => string): Map<string, string> {
  const contract = createContract(specFiles)
  const files = new Map<string, string>()
  for (const [file, definitions] of Object.entries(specFiles)) {
    files.set(`${file}.ts`, printModule({ file, definitions, source: sourceOf(file) }, contract))
  }
  return files.set('openapi.json', printOpenApi({ endpoints, pathParameters }, contract))
}
