/**
 * Converts places in stack traces of the joined (bundled) program, `dist/agent-server*.js`, to places in the modules.
 *
 * In a joined file, each module is a block under a line `// src/path.js`. Line 1 of the module is the third line below
 * that line.
 */
import { readFileSync } from '../base/read-files.ts'

interface Block {
  readonly path: string
  /** The number of lines of the joined (bundled) file before the first line of the module. */
  readonly before: number
}

const dist = new URL('../../', import.meta.url).href
const joinedPlace = /(agent-server(?:\.[a-z-]+)?\.js):(\d+)/y
const blockStart = /^\/\/ (src\/\S+\.js)\nlet \$/gm
const known = new Map<string, readonly Block[]>()

/** Converts places in the joined (bundled) program to places in modules: `file:///opt/as/dist/src/version.js:12:3`. */
export function withModulePlaces(text: string): string {
  const [first = '', ...rest] = text.split(`${dist}agent-server`)
  return first + rest.map((behind) => placeIn(`agent-server${behind}`)).join('')
}

/** Returns `dist` and then `text`. A place at the start of `text` becomes the place in its module, if this is found. */
function placeIn(text: string): string {
  joinedPlace.lastIndex = 0
  const [place, file = '', digits = ''] = joinedPlace.exec(text) ?? []
  const line = Number(digits)
  const block = place === undefined ? undefined : blocksOf(file).findLast(({ before }) => before < line)
  if (place === undefined || block === undefined) return dist + text
  return `${dist}${block.path}:${line - block.before}${text.slice(place.length)}`
}

function blocksOf(file: string): readonly Block[] {
  const blocks = known.get(file) ?? findBlocks(readJoined(file))
  known.set(file, blocks)
  return blocks
}

function findBlocks(text: string): Block[] {
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

/** Returns the text of a joined (bundled) file; empty when it cannot be read. */
function readJoined(file: string): string {
  try {
    return readFileSync(new URL(file, dist), 'utf8')
  } catch {
    return '' // Without this text, no place in the file is converted.
  }
}
