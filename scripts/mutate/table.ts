/** Prints the outcomes of the mutations: one line for each while they run, and a table by folder at the end. Pure. */
import type { Mutation } from './mutation.ts'
import type { Outcome } from './trial.ts'

export interface Tried {
  readonly folder: string
  readonly mutation: Mutation
  readonly outcome: Outcome
}

/** Prints one line, which says more when the mutation was not killed. */
export function printTried({ mutation, outcome }: Tried, place: string): string {
  const { verdict, detail, ms } = outcome
  const line = `${place} ${verdict.padEnd(8)}  ${mutation.file}: ${mutation.promise} (${seconds(ms)} s)`
  return verdict === 'killed' ? line : `${line}\n    ${detail}\n    ${mutation.old.split('\n').join('\n    ')}`
}

/** Lines without a line feed. The time of a folder is the sum of the times of its mutations. */
export function printFolders(tried: readonly Tried[]): string[] {
  const folders = [...new Set(tried.map(({ folder }) => folder))]
  const rows = folders.map((folder) => rowOf(folder, tried.filter((one) => one.folder === folder)))
  const lines = [['folder', 'mutations', 'killed', 'seconds'], ...rows, rowOf('all', tried)]
  return lines.map(([name = '', ...figures]) => {
    return [name.padEnd(28), ...figures.map((figure) => figure.padStart(10))].join('')
  })
}

function rowOf(folder: string, tried: readonly Tried[]): string[] {
  const killed = tried.filter(({ outcome }) => outcome.verdict === 'killed').length
  const ms = tried.reduce((sum, { outcome }) => sum + outcome.ms, 0)
  return [folder, String(tried.length), String(killed), seconds(ms)]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
