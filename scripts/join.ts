/**
 * Makes `dist/agent-server.js`, the program in one file, of the modules in `dist/src`. Run by `npm run build` at its end.
 *
 * `npm start` and the installed command run that file. The modules are the same program, only slower to start:
 * `node dist/src/cli/main.js`. What runs in a thread or a process of its own is started from the modules in any case.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { joinModules } from './join/join.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const header = `/*
 * Joined by scripts/join from the modules of dist/src, which the compiler has made of src: read those. Each module is a block,
 * with its path above. To run without this file: node dist/src/cli/main.js
 */
`

const modules = new Map<string, string>()
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
  if (path.endsWith('.js')) modules.set(`src/${path.replaceAll('\\', '/')}`, readFileSync(join(root, 'src', path), 'utf8'))
}
writeFileSync(join(root, 'agent-server.js'), joinModules({ modules, entry: 'src/cli/main.js', header }))
