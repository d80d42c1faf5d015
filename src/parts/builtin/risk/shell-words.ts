/**
 * Finds deletions by force in a text: `rm` with the flags for recursive and force, wherever and however they stand.
 *
 * The text is read as the shell would, roughly: quotes and backslashes are dropped, and a command ends at `;`, `&`, `|`
 * or a line's end. Linear in the length of the text.
 */

/** Returns the words behind each `rm` that deletes recursively by force. */
export function forcedDeletes(text: string): readonly (readonly string[])[] {
  return text.replace(/['"\\]/g, '').split(/[;&|\n]+/).flatMap((command) => {
    const words = command.trim().split(/\s+/)
    const start = words.findIndex((word) => /(?:^|[/`($])rm$/.test(word))
    const args = start === -1 ? [] : words.slice(start + 1)
    return has(args, 'r', '--recursive') && has(args, 'f', '--force') ? [args] : []
  })
}

function has(args: readonly string[], letter: string, long: string): boolean {
  return args.some((arg) => arg === long || (/^-[a-z]+$/i.test(arg) && arg.toLowerCase().includes(letter)))
}
