/**
 * `npm pack` runs this first: writes `dist/SHA256SUMS` and `dist/sbom.json` for the package.
 *
 * `SHA256SUMS` has the SHA-256 of each file of the package, source and build, in the form of sha256sum(1). In the
 * folder of the package `sha256sum --check dist/SHA256SUMS` compares them. `sbom.json` is a CycloneDX 1.6 bill of
 * materials. It names no date and no random number, so the same source gives the same bytes.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'

commandLine({
  command: 'node dist/scripts/package.js',
  help: 'Writes the digests and the bill of materials of the package. npm pack runs it.',
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const { name, version, license, description, files, dependencies = {} }: Readonly<{
  name: string, version: string, license: string, description: string, files: readonly string[]
  dependencies?: Record<string, string>
}> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const needed = Object.keys(dependencies)
if (needed.length > 0) throw new Error(`The bill of materials has no dependencies, and needs ${needed.join()}`)

const reference = `pkg:npm/${name}@${version}`
const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      'bom-ref': reference, type: 'application', name, version, description, purl: reference,
      licenses: [{ license: { id: license } }],
    },
  },
  components: [],
  dependencies: [{ ref: reference, dependsOn: [] }],
  // The list of dependencies is complete: there are none.
  compositions: [{ aggregate: 'complete', dependencies: [reference] }],
}
writeFileSync(join(root, 'dist/sbom.json'), `${JSON.stringify(bill, undefined, 2)}\n`)

// npm adds these to `files` of package.json. The list of digests does not have itself.
const always = ['LICENSE', 'README.md', 'package.json']
const paths = new Set([...always, ...files].flatMap(filesAt).filter((path) => path !== 'dist/SHA256SUMS'))
const sums = [...paths].sort().map((path) => {
  return `${createHash('sha256').update(readFileSync(join(root, path))).digest('hex')}  ${path}\n`
})
writeFileSync(join(root, 'dist/SHA256SUMS'), sums.join(''))

/** Returns the paths that a pattern of `files` names: a file, all files below a folder, or `folder/start*.js`. */
function filesAt(pattern: string): readonly string[] {
  const [start, end] = pattern.split('*')
  if (start !== undefined && end !== undefined) {
    return filesIn(dirname(`${start}x`)).filter((path) => path.startsWith(start) && path.endsWith(end))
      .filter((path) => !path.slice(start.length).includes('/'))
  }
  const entry = statSync(join(root, pattern), { throwIfNoEntry: false })
  return entry?.isFile() === true ? [pattern] : filesIn(pattern)
}

/** Returns the paths of the files in a folder, from the root; none when there is no such folder. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return []
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return names.map((path) => `${folder}/${path}`).filter((path) => statSync(join(root, path)).isFile())
}
