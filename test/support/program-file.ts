/**
 * Which file is started as the program: the joined one, as operators do. Under coverage it is the modules, whose lines
 * the figures are about, and where the tests run unbuilt, the source.
 */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const ending = extname(import.meta.url)

export const joinedFile = fileURLToPath(new URL('../../agent-server.js', import.meta.url))
export const mainModule = fileURLToPath(new URL(`../../src/cli/main${ending}`, import.meta.url))
export const programFile = ending === '.ts' || process.env['NODE_V8_COVERAGE'] !== undefined ? mainModule : joinedFile
