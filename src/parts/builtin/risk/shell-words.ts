/**
 * Finds forced recursive deletions in a text: `rm` with the flags `r` and `f` in any form (`-rf`, `-f --recursive`).
 *
 * The text is split roughly as a shell splits it.
 */

/** Returns, for each forced recursive deletion, the words after `rm`. */
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
