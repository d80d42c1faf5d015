/**
 * Libraries of others beside the same limits, in the same run: validators, SQLite for appending, an SDK for JSON-RPC.
 *
 * They are installed outside the tree. The validators check the only kind of event in the samples, with a closed schema
 * like ours. SQLite is the version inside a newer Node (write-ahead log, `synchronous = FULL`), a transaction for each
 * event. The SDK answers requests as rpc-echo does.
 */
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isObject } from '../../../src/base/json.ts'
import { installPackages } from '../../real/agent-package.ts'
import { appendLoads, compareAppends } from '../append.ts'
import { startProgram } from '../child.ts'
import type { NamedGate, Row } from '../gate.ts'
import { compareEchoes } from '../rpc.ts'
import { compareParsers, compareValidators } from '../validation.ts'

const node = '24.21.0'
const packages: readonly string[] = [
  'ajv@8.20.0', 'zod@4.6.7', '@sinclair/typebox@0.34.52', '@agentclientprotocol/sdk@2.4.0', `node@${node}`,
]

/** Installs the libraries. */
export async function libraryPeers(): Promise<NamedGate[]> {
  const folder = await installPackages('bench-libraries', packages)
  return [
    ...(await validatorPeers(folder)),
    { name: 'sqlite-append', gate: ({ budgetMs }) => sqliteAppends(folder, budgetMs), seconds: 20 },
    {
      name: 'acp-sdk-json-rpc',
      gate: ({ budgetMs }) =>
        compareEchoes('ACP SDK', startProgram(programOf('acp-sdk.mjs'), { args: [folder] }), budgetMs),
      seconds: 20,
    },
  ]
}

async function validatorPeers(folder: string): Promise<NamedGate[]> {
  const { createValidators } = Object(await import(pathToFileURL(programOf('validators.mjs')).href))
  const validators: unknown = await createValidators(folder)
  if (!isObject(validators)) throw new TypeError('Expected validators')
  return Object.entries(validators).flatMap(([peer, check]) => {
    if (typeof check !== 'function') return []
    const isValid = (event: unknown): boolean => Boolean(check(event))
    const read = (text: string): boolean => isValid(JSON.parse(text))
    return [
      {
        name: `${peer}-validate`,
        gate: ({ budgetMs }) => compareValidators({ peer, check: isValid, budgetMs }),
        seconds: 5,
      },
      { name: `${peer}-parse`, gate: ({ budgetMs }) => compareParsers({ peer, read, budgetMs }), seconds: 5 },
    ] satisfies NamedGate[]
  })
}

async function sqliteAppends(folder: string, budgetMs: number): Promise<Row[]> {
  const execPath = join(folder, 'node_modules', 'node', 'bin', 'node')
  const child = startProgram(programOf('sqlite.mjs'), { execPath })
  try {
    const rows: Row[] = []
    for (const load of appendLoads) {
      const count = load.producers * load.each
      // It tells itself how long it took, so that the question costs nothing.
      const round = async () => ({ elapsedMs: Number(await child.ask('append', count)), cpuMs: 0 })
      rows.push(...(await compareAppends('SQLite FULL', round, { ...load, budgetMs: budgetMs / appendLoads.length })))
    }
    return rows
  } finally {
    await child.stop()
  }
}

/** Not compiled: they stand beside the source of this file, wherever that runs. */
function programOf(file: string): string {
  return fileURLToPath(new URL(`../../../../scripts/bench/peers/${file}`, import.meta.url))
}
