/**
 * `npm run compare`: sends the same requests to the public server of PyPI and to this one, holds the same conversations
 * with both, and prints each difference.
 *
 * Fails for a difference that compare/differences.ts does not name, and for one that it names and that no longer
 * occurs. The public server is installed outside the tree (real/python.ts); both write below a temporary folder only.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from './command-line.ts'
import { startOpenAiModel } from '../test/fixtures/openai-model.ts'
import { askOperation, loneOperations, sharedOperations } from './compare/described.ts'
import { differencesOf } from './compare/difference.ts'
import { deliberate, notCompared } from './compare/differences.ts'
import * as scenes from './compare/scenes.ts'
import { stageOf, type Stage } from './compare/stage.ts'
import { installPublicServer, startOurs, startTheirs, type Subject } from './compare/subject.ts'
import { modelOptions, talks } from './compare/talks.ts'
import { judge, type Found } from './compare/verdict.ts'

const { flags } = commandLine({
  command: 'npm run compare',
  help: `Compares this server with the public one of PyPI. Needs Python 3.12 or newer; AGENT_SERVER_REAL_PYTHON names one.
Exits with 1 for a difference that scripts/compare/differences.ts does not name, or names in vain.`,
  flags: { all: { help: 'Print the deliberate differences too, each with its reason' } },
})
await compare()

async function compare(): Promise<void> {
  const environment = await installPublicServer()
  const folder = await mkdtemp(join(tmpdir(), 'compare-'))
  const model = await startOpenAiModel(modelOptions)
  const running: Subject[] = []
  try {
    const ours = await startOurs(folder)
    running.push(ours)
    const theirs = await startTheirs(environment, folder, ours.key)
    running.push(theirs)
    const [left, right] = [stageOf(theirs), stageOf(ours)]
    const described = await Promise.all([theirs, ours].map(descriptionOf))
    await Promise.all([left, right].map((stage) => play(stage, described, model.url)))
    report(left, right, loneOperations(described[0], described[1]).theirs)
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    await model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function descriptionOf({ url, key }: Subject): Promise<unknown> {
  const response = await fetch(`${url}/openapi.json`, { headers: { 'x-session-api-key': key } })
  return response.json()
}

async function play(stage: Stage, [theirs, ours]: readonly unknown[], modelUrl: string): Promise<void> {
  await scenes.serverScene(stage)
  await scenes.settingsScene(stage)
  await scenes.secretsScene(stage)
  await scenes.profilesScene(stage)
  await scenes.agentProfilesScene(stage)
  await scenes.modelsScene(stage)
  await scenes.machineScene(stage)
  await scenes.conversationsScene(stage)
  for (const operation of sharedOperations(theirs, ours)) await askOperation(stage, operation)
  await talks(stage, modelUrl)
}

function report(theirs: Stage, ours: Stage, lone: readonly string[]): void {
  const names = [...new Set([...theirs.records.keys(), ...ours.records.keys()])]
  const found = names.flatMap((at): Found[] => {
    const [left, right] = [theirs.records.get(at), ours.records.get(at)]
    if (left === undefined) return [{ at, is: 'only ours' }]
    if (right === undefined) return [{ at, is: 'only theirs' }]
    return differencesOf(left, right).map((is) => ({ at, is }))
  })
  const { unnamed, stale } = judge(found, deliberate)
  for (const { at, is } of unnamed) process.stdout.write(`DIFFERS ${at}: ${is}\n`)
  for (const { at, is } of stale) process.stdout.write(`STALE   ${at}: ${is}: differences.ts names it in vain\n`)
  if (flags.all !== undefined) {
    for (const { at, is, why } of deliberate) process.stdout.write(`known   ${at}: ${is}: ${why}\n`)
  }
  const missing = lone.filter((one) => notCompared[one] === undefined)
  for (const one of missing) process.stdout.write(`MISSING ${one}: this server does not have it\n`)
  const here = Object.keys(notCompared).filter((one) => !lone.includes(one))
  for (const one of here) process.stdout.write(`STALE   ${one}: it is there, and notCompared names it\n`)
  const same = names.length - new Set(found.map(({ at }) => at)).size
  const faults = unnamed.length + stale.length + missing.length + here.length
  process.stdout.write(`${names.length} answers: ${same} the same, ${found.length - unnamed.length} deliberate ` +
    `differences, ${unnamed.length} others, ${stale.length + here.length} entries in vain\n`)
  process.exitCode = faults === 0 ? 0 : 1
}
