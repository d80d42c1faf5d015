/**
 * Places in stacks of the joined program (`dist/agent-server.js`, made by scripts/join), told as places in the modules.
 *
 * A module is a block there under a line `// src/path.js`, and line 1 of the module is the third line below. The joined
 * file is read when the first such stack is told, and never before. Any other text stays as it is, as does every text
 * where the program runs from its modules.
 */
import { readFileSync } from 'node:fs'

interface Block {
  readonly path: string
  /** The last line of the joined file before the first line of the module. */
  readonly before: number
}

const dist = new URL('../../', import.meta.url).href
const joinedFile = `${dist}agent-server.js:`
const blockStart = /^\/\/ (src\/\S+\.js)\nlet \$/gm
let known: readonly Block[] | undefined

/** The text with places such as `file:///opt/agent-server/dist/src/base/json.js:12:3`. */
export function withModulePlaces(text: string): string {
  if (!text.includes(joinedFile)) return text
  const [first = '', ...rest] = text.split(joinedFile)
  return first + rest.map(placeIn).join('')
}

/** What stands behind the name of the joined file: a line, and then anything. */
function placeIn(text: string): string {
  const digits = /^\d+/.exec(text)?.[0] ?? ''
  const line = Number(digits)
  const block = blocks().findLast(({ before }) => before < line)
  if (digits === '' || block === undefined) return joinedFile + text
  return `${dist}${block.path}:${line - block.before}${text.slice(digits.length)}`
}

function blocks(): readonly Block[] {
  return (known ??= findBlocks())
}

function findBlocks(): Block[] {
  const text = readJoined()
  const found: Block[] = []
  let line = 1
  let at = 0
  for (const { index, 1: path = '' } of text.matchAll(blockStart)) {
    for (let end = text.indexOf('\n', at); end !== -1 && end < index; end = text.indexOf('\n', at)) {
      line++
      at = end + 1
    }
    found.push({ path, before: line + 2 })
  }
  return found
}

/** Empty when it cannot be read: an error is told with its own places then. */
function readJoined(): string {
  try {
    return readFileSync(new URL(joinedFile.slice(0, -1)), 'utf8')
  } catch {
    return ''
  }
}
