/**
 * The page of the console as files for `dist/console`: its modules, joined into an entry, a file for the first view,
 * and a file for each folder that is loaded later; and the files that are no modules.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinModules } from './join.ts'

/** The folder of the page's sources, from the root of the repository. */
export const pageFolder = 'src/parts/console/page'

/** The files of the page by name. `compiled` holds the modules as the compiler has made them, below the same paths. */
export function joinPage(root: string, compiled: string): ReadonlyMap<string, string> {
  const paths = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  const modules = new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(compiled, path), 'utf8')]))
  const header = '// Joined from src/parts/console/page.\n'
  const joined = joinModules({ modules, entry: `${pageFolder}/main.js`, header, file: 'console.js', groupOf })
  const names = readdirSync(join(root, pageFolder)).filter((name) => /\.(?:html|css|svg)$/.test(name))
  const texts = names.map((name) => [name, readFileSync(join(root, pageFolder, name), 'utf8')] as const)
  return new Map([...joined, ...texts])
}

/** The folder of the page in which a module lies. */
function groupOf(path: string): string | undefined {
  return new RegExp(`^${pageFolder}/([^/]+)/`).exec(path)?.[1]
}
