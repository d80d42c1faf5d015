/**
 * Rule for parts: a part names each capability that it takes from the core.
 *
 * In src/parts the type `Core` stands in an import, in `Pick<Core, 'log' | 'clock'>` or in `Core['log']`, nowhere else.
 */
import type { Finding } from './finding.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

export function checkCapabilities(file: SourceFile): Finding[] {
  if (!file.path.startsWith('src/parts/')) return []
  const message = "name the capabilities that this part takes: Pick<Core, 'log' | 'clock'>, or Core['log'] for one"
  return file.code.flatMap((token, index) => {
    if (token.kind !== 'word' || (token.text !== 'Core' && token.text !== 'PartModule')) return []
    const isAllowed = token.text === 'Core' ? namesMembers(file.code, index) : file.code[index + 1]?.text !== '['
    return isAllowed ? [] : [{ file: file.path, line: token.line, rule: 'capabilities', message }]
  })
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
