/**
 * The text of `dist/agent-server.js`: the program, joined from the modules in `src` of the folder where the compiler puts all.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinModules } from './join.ts'

const header = `/*
 * Joined by scripts/join from the modules of dist/src, which the compiler has made of src: read those. Each module is a
 * block here, under its path. To run the program without this file: node dist/src/cli/main.js
 */
`

export function joinProgram(dist: string): string {
  const paths = readdirSync(join(dist, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  const modules = new Map(paths.map((path) => [`src/${path.replaceAll('\\', '/')}`, readFileSync(join(dist, 'src', path), 'utf8')]))
  return joinModules({ modules, entry: 'src/cli/main.js', header })
}
