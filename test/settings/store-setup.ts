/**
 * A settings store in a folder of its own, and the functions that the tests of its patches and of its secrets share.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { createMasker, type Masker } from '../../src/base/masking.ts'
import { check } from '../../src/schema/check.ts'
import { toLLM } from '../../src/schema/generated/llm.ts'
import type { SettingsResponse } from '../../src/schema/generated/settings.ts'
import { createCipher } from '../../src/settings/cipher.ts'
import { profileNotFound } from '../../src/settings/profiles.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { createSettingsStore, type SettingsStore } from '../../src/settings/store.ts'
import { withFolder } from './folder.ts'

export type Json = Readonly<Record<string, unknown>>

export interface Setup {
  readonly folder: string
  readonly path: string
  readonly masker: Masker
  readonly store: SettingsStore
  /** The store of the next start. */
  again(options?: { key?: number; masker?: Masker }): SettingsStore
  /** Patches agent settings and gives them, redacted. */
  agent(diff: Json): Promise<Json>
}

export function withStore(body: (setup: Setup) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const path = join(folder, 'settings.json')
    const masker = createMasker()
    const again: Setup['again'] = ({ key = 1, masker: other = masker } = {}) =>
      createSettingsStore({
        path,
        masker: other,
        providers: builtInProviders,
        cipher: createCipher({ keys: [Buffer.alloc(32, key)], random: randomBytes }),
        loadProfile: async (name) => {
          if (name !== 'fast') throw profileNotFound(name)
          return toLLM({ model: 'fast-model', api_key: 'profile-canary-1' })
        },
        limitChars: 50_000,
      })
    const store = again()
    await body({
      folder, path, masker, store, again,
      agent: async (diff) => agentOf(await store.patch({ agent_settings_diff: diff })),
    })
  })
}

export function agentOf(response: SettingsResponse): Json {
  assert.equal(check('SettingsResponse', response), [])
  return { ...response.agent_settings }
}

export async function refusal(work: Promise<unknown>): Promise<AppError> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('Expected a refusal')
}

/** @param problem the text behind the usual words */
export async function refuses(work: Promise<unknown>, problem = ''): Promise<void> {
  const error = await refusal(work)
  assert.equal([error.code, error.message, error.issues], ['invalid_input', `Settings validation failed${problem}`, []])
}

export function pick(object: Json, ...names: string[]): unknown[] {
  return names.map((name) => object[name])
}

export function at(value: unknown, ...path: string[]): unknown {
  let current = value
  for (const name of path) {
    current = typeof current === 'object' && current !== null ? new Map(Object.entries(current)).get(name) : undefined
  }
  return current
}

/** Agent settings that no patch may bring about. */
export const wrong: readonly Json[] = [
  { acp_server: 'other-canary' },
  { acp_command: 5 },
  { acp_command: ['a', 1] },
  { acp_prompt_timeout: 0 },
  { acp_args: 'canary' },
  { llm: { model: { canary: 1 } } },
  { llm: 'canary' },
  { mcp_config: { a: { command: 'x', surprise: 'canary' } } },
  { mcp_config: { a: { command: 'x', type: 'stdio' } } },
  { mcp_config: { a: { url: 'http://x', transport: 'stdio' } } },
  { mcp_config: { a: { command: 'x', transport: 'http' } } },
  { mcp_config: { a: {} } },
  { mcp_config: { a: { command: ' ' } } },
  {
    mcp_config: {
      a: { url: 'http://x', headers: { authorization: 'canary' }, auth: { strategy: 'bearer', value: 'canary' } },
    },
  },
  { schema_version: 'x' },
]
