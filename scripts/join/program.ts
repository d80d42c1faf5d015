/**
 * The program as files in `dist`, joined from the modules in `src` of the folder where the compiler puts all:
 * `agent-server.js`, `agent-server.core.js`, and one for each part, which is loaded when the part is used.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinModules } from './join.ts'

const header = `/*
 * Joined by scripts/join from the modules of dist/src, which the compiler has made of src: read those. Each module is a
 * block here, under its path. To run the program without this file: node dist/src/cli/main.js
 */
`

/** The files of the program by name: the entry, the core, and one for each part. */
export function joinProgram(dist: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(dist, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => {
    return path.endsWith('.js')
  })
  const modules = new Map(
    paths.map((path) => [`src/${path.replaceAll('\\', '/')}`, readFileSync(join(dist, 'src', path), 'utf8')]),
  )
  return joinModules({ modules, entry: 'src/cli/main.js', header, file: 'agent-server.js', groupOf })
}

/** The part in whose folder a module lies. */
function groupOf(path: string): string | undefined {
  return /^src\/parts\/([^/]+)\//.exec(path)?.[1]
}
