/**
 * Edits in the grammar of `apply_patch`, which several agents' models know: one file each.
 */

export function addFile(path: string, content: string): string {
  return patch(`*** Add File: ${path}\n${prefixed('+', content)}`)
}

export function updateFile(path: string, before: string, after: string): string {
  return patch(`*** Update File: ${path}\n@@\n${prefixed('-', before)}${prefixed('+', after)}`)
}

function patch(text: string): string {
  return `*** Begin Patch\n${text}*** End Patch\n`
}

function prefixed(sign: string, text: string): string {
  return text.trimEnd().split('\n').map((line) => `${sign}${line}\n`).join('')
}
