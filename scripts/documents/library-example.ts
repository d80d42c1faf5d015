/** Reads the example of the library in the manual, so that a test and a check compile the text that a host copies. */

/** Returns the blocks of code of the section as one program. Throws for a manual without them. */
export function libraryExample(manual: string): string {
  const [, section = ''] = /\n## As a library\n([^]*?)\n## /.exec(manual) ?? []
  const code = [...section.matchAll(/\n```ts\n([^]*?)```/g)].map(([, block = '']) => block).join('')
  if (!code.includes('createAgentServer')) throw new Error('src/README.md has no example of the library')
  return code
}
