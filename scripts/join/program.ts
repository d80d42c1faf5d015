/**
 * The program as files in `dist`, joined from the modules in `src` of the folder where the compiler puts all:
 * `agent-server.js`, `agent-server.core.js`, one for each part, which is loaded when the part is used, the files of
 * texts that few programs load, and `agent-server.library.js`, which hosts import.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinModules } from './join.ts'

const header = `/*
 * Joined by scripts/join from the modules of dist/src, which the compiler has made of src: read those. Each module is a
 * block here, under its path. In the repository, node dist/src/cli/main.js runs the program without this file.
 */
`

/** The files of the program by name: the entry, the core, a file for each part, and the files of texts. */
export function joinProgram(dist: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(dist, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => {
    return path.endsWith('.js')
  })
  const modules = new Map(
    paths.map((path) => [`src/${path.replaceAll('\\', '/')}`, readFileSync(join(dist, 'src', path), 'utf8')]),
  )
  const library = { path: 'src/index.js', file: 'agent-server.library.js' }
  return joinModules({ modules, entry: 'src/cli/main.js', header, file: 'agent-server.js', groupOf, library })
}

/** The part in whose folder a module lies; texts that few programs load have files of their own. */
function groupOf(path: string): string | undefined {
  if (path === 'src/schema/generated/openapi.js') return 'openapi'
  if (path.startsWith('src/parts/install/locks/')) return 'install-locks'
  return /^src\/parts\/([^/]+)\//.exec(path)?.[1]
}
