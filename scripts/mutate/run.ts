/**
 * Tries all mutations of some sets in copies of the tree, as many at a time as there are cores.
 *
 * First the copy is built and the named tests are run on it as it is: a mutation can be judged only by a test that
 * passes without it. The time of a test there decides its deadline, and mutations of a test that fails there are in
 * doubt.
 */
import { availableParallelism } from 'node:os'
import type { Mutation, MutationSet } from './mutation.ts'
import { printTried, type Tried } from './table.ts'
import { Tree } from './tree.ts'
import { tryMutation, type Outcome } from './trial.ts'
import type { Workshop } from './workshop.ts'

const fileLimitMs = 120_000
/** A hung test is waited for this many times as long as it takes, and at least the second figure. */
const patience = { factor: 6, leastMs: 30_000 }

export type Print = (line: string) => void

export interface RunOptions {
  readonly print: Print
  /** Called after each mutation. */
  readonly onTried?: (tried: Tried) => void
}

/** @throws Error when the tree does not build as it is */
export async function runMutations(
  workshop: Workshop, sets: readonly MutationSet[], { print, onTried }: RunOptions,
): Promise<Tried[]> {
  const control = new Tree(workshop, workshop.copySource('control'))
  print('building a copy of the tree')
  const fault = await control.build()
  if (fault !== undefined) throw new Error(`The tree does not build without any mutation:\n${fault}`)
  const workers = availableParallelism()
  const trees = Array.from({ length: workers }, (_, place) => {
    return new Tree(workshop, workshop.copyTree(control.folder, `tree${place}`))
  })
  const { times, broken } = await runControl(control, sets, workers, print)
  const limitMs = (test: string): number =>
    Math.min(fileLimitMs, Math.max(patience.leastMs, patience.factor * (times.get(test) ?? fileLimitMs)))
  const outcomeOf = async (mutation: Mutation, mutated: Tree): Promise<Outcome> => {
    const test = mutation.tests.find((name) => broken.has(name))
    if (test === undefined) return tryMutation(mutation, { mutated, control, limitMs })
    return { verdict: 'in doubt', detail: `${test} fails without any mutation: ${broken.get(test)}`, ms: 0 }
  }
  const waiting = sets.flatMap(({ folder, mutations }) => mutations.map((mutation) => ({ folder, mutation })))
  const total = waiting.length
  const tried: Tried[] = []
  await Promise.all(trees.map(async (mutated) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const one = { ...next, outcome: await outcomeOf(next.mutation, mutated) }
      tried.push(one)
      onTried?.(one)
      print(printTried(one, `[${tried.length}/${total}]`))
    }
  }))
  return tried
}

interface ControlRun {
  /** The time that each named test took. */
  readonly times: ReadonlyMap<string, number>
  /** Tests that fail on the tree as it is, and why. */
  readonly broken: ReadonlyMap<string, string>
}

/** A test that fails beside others is asked again alone. */
async function runControl(
  control: Tree, sets: readonly MutationSet[], workers: number, print: Print,
): Promise<ControlRun> {
  const tests = new Set(sets.flatMap(({ mutations }) => mutations.flatMap((mutation) => mutation.tests)))
  print(`running the ${tests.size} named tests without a mutation`)
  const times = new Map<string, number>()
  const broken = new Map<string, string>()
  const failed: string[] = []
  const waiting = [...tests]
  await Promise.all(Array.from({ length: workers }, async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const { outcome, ms } = await control.test(test, fileLimitMs)
      if (outcome === 'passed') times.set(test, ms)
      else failed.push(test)
    }
  }))
  for (const test of failed) {
    const { outcome, ms, detail } = await control.test(test, fileLimitMs)
    if (outcome === 'passed') times.set(test, ms)
    else broken.set(test, detail)
  }
  for (const [test, detail] of broken) print(`${test} fails without any mutation, so it can judge none: ${detail}`)
  return { times, broken }
}
