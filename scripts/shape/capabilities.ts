/**
 * Rules for parts: a part names each capability that it takes from the core, and uses each that it names.
 *
 * In src/parts the type `Core` stands in an import, in `Pick<Core, 'log' | 'clock'>` or in `Core['log']`, nowhere else.
 * The type `StartedPart` stands nowhere: `Started<typeof docs>` has each handler and offer of the description.
 */
import type { Finding } from './finding.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

export function checkCapabilities(file: SourceFile): Finding[] {
  if (!file.path.startsWith('src/parts/')) return []
  const message = "name the capabilities that this part takes: Pick<Core, 'log' | 'clock'>, or Core['log'] for one"
  const started = 'name the description of the part: Started<typeof docs> has its handlers and offers'
  return file.code.flatMap((token, index) => {
    if (token.kind === 'word' && token.text === 'StartedPart') {
      return [{ file: file.path, line: token.line, rule: 'capabilities', message: started }]
    }
    if (token.kind !== 'word' || (token.text !== 'Core' && token.text !== 'PartModule')) return []
    const isAllowed = token.text === 'Core' ? namesMembers(file.code, index) : file.code[index + 1]?.text !== '['
    return isAllowed ? [] : [{ file: file.path, line: token.line, rule: 'capabilities', message }]
  })
}

/** Checks that `start` of a part takes `Lent<typeof ...>`, or nothing, and returns `Started<typeof ...>`. */
export function checkStart({ path, code }: SourceFile): Finding[] {
  if (!/^src\/parts\/[^/]+\/start\.ts$/.test(path)) return []
  const text = code.map((token) => token.text).join(' ')
  const takesLent = text.includes('function start ( )') || text.includes('Lent < typeof')
  const message = 'give `start` the types of its description: start(core: Lent<typeof docs>): Started<typeof docs>'
  return takesLent && text.includes('Started < typeof') ? [] : [{ file: path, line: 1, rule: 'capabilities', message }]
}

/** Finds capabilities in the `needs` of a part that no other file of its folder names. */
export function checkUnusedNeeds(files: readonly SourceFile[]): Finding[] {
  return files.filter(({ path }) => /^src\/parts\/[^/]+\/part\.ts$/.test(path)).flatMap(({ path, code }) => {
    const folder = path.slice(0, -'part.ts'.length)
    const others = files.filter((file) => file.path.startsWith(folder) && file.path !== path)
    const words = others.flatMap((file) => file.code.filter(({ kind }) => kind === 'word'))
    const used = new Set(words.map(({ text }) => text))
    return needsIn(code).filter(({ text }) => !used.has(text)).map(({ line, text }) => {
      return { file: path, line, rule: 'capabilities', message: `no file of the part uses "${text}": take it away` }
    })
  })
}

/** Returns the texts in `needs: [...]`. */
function needsIn(code: readonly Token[]): readonly Token[] {
  const start = code.findIndex(({ text }, index) => text === 'needs' && code[index + 1]?.text === ':')
  if (start === -1) return []
  const list = code.slice(start + 3)
  return list.slice(0, list.findIndex(({ text }) => text === ']')).filter(({ kind }) => kind === 'string')
}

function namesMembers(code: readonly Token[], index: number): boolean {
  const texts = code.slice(index - 2, index + 2).map(({ text }) => text)
  if (texts.join(' ') === 'Pick < Core ,') {
    const list = code.slice(index + 2)
    const end = list.findIndex(({ kind, text }) => kind !== 'string' && text !== '|' && text !== ',')
    return end > 0 && list[end]?.text === '>'
  }
  if (texts[3] === '[') return code[index + 2]?.kind === 'string'
  return isImported(code, index)
}

/** True in `import type { Core, Use } from`, not where the import gives another name. */
function isImported(code: readonly Token[], index: number): boolean {
  const after = code.slice(index + 1)
  if (after[0]?.text === 'as') return false
  const end = after.findIndex(({ kind, text }) => kind !== 'word' && text !== ',')
  return after[end]?.text === '}' && after[end + 1]?.text === 'from'
}
