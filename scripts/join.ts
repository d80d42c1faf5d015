/**
 * Makes `dist/agent-server.js` and the files beside it: the program, its core, a file for each part, and the library,
 * whose types are in `dist/types`. The last step of `npm run build`.
 *
 * `npm start` and the installed command run that file. `node dist/src/cli/main.js` is the same program, only slower to
 * start. A module that runs in a thread or a process of its own is started from `dist/src` in either case.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { joinPage, pageFolder } from './join/page.ts'
import { joinProgram } from './join/program.ts'
import { publicTypes } from './join/declarations.ts'

const dist = fileURLToPath(new URL('../', import.meta.url))
for (const name of readdirSync(dist)) if (/^agent-server(?:\.[a-z-]+)?\.js$/.test(name)) rmSync(join(dist, name))
for (const [name, text] of joinProgram(dist)) writeFileSync(join(dist, name), text)

rmSync(join(dist, 'types'), { recursive: true, force: true })
for (const [path, text] of publicTypes(dist)) {
  mkdirSync(dirname(join(dist, 'types', path)), { recursive: true })
  writeFileSync(join(dist, 'types', path), text)
}

const compiled = join(dist, 'page')
rmSync(join(dist, 'console'), { recursive: true, force: true })
if (existsSync(join(dist, '..', pageFolder)) && existsSync(compiled)) {
  mkdirSync(join(dist, 'console'))
  for (const [name, text] of joinPage(join(dist, '..'), compiled)) writeFileSync(join(dist, 'console', name), text)
}
