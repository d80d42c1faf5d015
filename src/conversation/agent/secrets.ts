/**
 * The secrets that a conversation's agent may use. A secret of the conversation wins over a global secret of the same
 * name (decisions 23).
 */
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { resolveSecrets, type ResolveSecretsOptions } from '../../settings/lookup.ts'
import type { SecretStore } from '../../settings/secrets.ts'
import type { AgentVault } from './vault.ts'
import type { NamedSecret, SecretChange } from './host.ts'

export interface AgentSecretsOptions {
  readonly vault: AgentVault
  readonly globals: SecretStore
  readonly log: Log
  /** The addresses at which this server listens; empty until it listens. */
  readonly serverUrls: readonly string[]
  readonly fetchText: ResolveSecretsOptions['fetchText']
  /** Called when `resolve` returns secrets to an agent, with the conversation's id and the sorted names. */
  readonly onUsed?: ((owner: string, names: readonly string[]) => void) | undefined
}

/** The sealed (encrypted) sources of secrets by name, as a conversation stores them. */
export type SealedSources = Readonly<Record<string, JsonObject>>

export type Wanted = (name: string) => boolean

export interface AgentSecrets {
  list(sources: SealedSources): Promise<readonly NamedSecret[]>
  /** Returns the values of the wanted secrets by name. A failed look-up is logged, and its secret is left out. */
  resolve(
    owner: string, sources: SealedSources, wanted: Wanted, signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /**
   * Changes a secret from the old value `change.lent` to the new value `change.current`. For a static secret of the
   * conversation with the old value, returns the new sealed source, which the caller must store. Otherwise changes the
   * global secret if it has the old value, and returns true if it then has the new value.
   */
  replace(owner: string, sources: SealedSources, change: SecretChange): Promise<boolean | SealedSources>
}

export function createAgentSecrets(
  { vault, globals, log, serverUrls, fetchText, onUsed }: AgentSecretsOptions,
): AgentSecrets {
  return {
    async list(sources) {
      const own = Object.entries(sources).map(([name, { description }]): [string, NamedSecret] => {
        return [name, { name, description: typeof description === 'string' ? description : null }]
      })
      const all = new Map([...(await globals.list()).map((secret) => [secret.name, secret] as const), ...own])
      return [...all.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
    },

    async resolve(owner, sources, wanted, signal) {
      const opened = onlyWanted(vault.openSources(owner, sources), wanted)
      const globalSecret = (name: string): Promise<string> => globals.get(name)
      const resolved = await resolveSecrets(opened, { serverUrls, globalSecret, fetchText, signal })
      for (const failure of resolved.failures) log.warn('A secret could not be looked up', { ...failure })
      vault.hide(owner, resolved.values)
      // A global secret must not replace a secret of the conversation whose look-up failed.
      const failed = new Set(resolved.failures.map(({ name }) => name))
      const lent = onlyWanted(await globals.values(), (name) => wanted(name) && !failed.has(name))
      const used = new Map([...lent, ...resolved.values])
      if (used.size > 0) onUsed?.(owner, [...used.keys()].sort())
      return used
    },

    /** Changes a value as `AgentSecrets.replace` says. Masking of the new value begins before the value is stored. */
    async replace(owner, sources, change) {
      const { name, lent, current } = change
      vault.hide(owner, new Map([[name, current]]))
      return vault.replaceSource(owner, sources, change) ?? globals.replace(name, lent, current)
    },
  }
}

function onlyWanted<Value>(all: ReadonlyMap<string, Value>, wanted: Wanted): Map<string, Value> {
  return new Map([...all].filter(([name]) => wanted(name)))
}
