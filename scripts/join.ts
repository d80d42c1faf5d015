/**
 * Makes `dist/agent-server.js`, the program in one file. The last step of `npm run build`.
 *
 * `npm start` and the installed command run that file. `node dist/src/cli/main.js` is the same program, only slower to
 * start. What runs in a thread or a process of its own is started from the modules in either case.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { joinProgram } from './join/program.ts'

const dist = fileURLToPath(new URL('../', import.meta.url))
writeFileSync(new URL('../agent-server.js', import.meta.url), joinProgram(dist))
