/**
 * The secrets that a conversation's agent may use: all global secrets and the conversation's own secrets. The
 * conversation's secret wins over a global secret of the same name (decisions 23).
 *
 * A value is looked up only when it is wanted, and masked from then on.
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
  /** Addresses of this server, the main address first. */
  readonly serverUrls: readonly string[]
  readonly fetchText: ResolveSecretsOptions['fetchText']
  /** Called with the id of a conversation and the names of the secrets whose values its agent gets. */
  readonly onUsed?: ((owner: string, names: readonly string[]) => void) | undefined
}

/** Sealed sources by name, as a conversation stores them. */
export type SealedSources = Readonly<Record<string, JsonObject>>

export type Wanted = (name: string) => boolean

export interface AgentSecrets {
  list(sources: SealedSources): Promise<readonly NamedSecret[]>
  /** Returns the values of the wanted secrets by name. A value that cannot be looked up is logged and left out. */
  resolve(
    owner: string, sources: SealedSources, wanted: Wanted, signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /**
   * Takes over the value that a program wrote in place of the value that it was lent. For a secret of the conversation,
   * returns the sealed sources with the new value, which the caller must store. Else stores the value as the global
   * secret and returns true; returns false when the global secret has no longer the lent value.
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
      for (const { name, reason } of resolved.failures) log.warn('A secret could not be looked up', { name, reason })
      vault.hide(owner, resolved.values)
      // A global secret must not replace a secret of the conversation that could not be looked up.
      const failed = new Set(resolved.failures.map(({ name }) => name))
      const lent = onlyWanted(await globals.values(), (name) => wanted(name) && !failed.has(name))
      const used = new Map([...lent, ...resolved.values])
      if (used.size > 0) onUsed?.(owner, [...used.keys()].sort())
      return used
    },

    /** Masks the changed value, even when it is not stored. */
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
