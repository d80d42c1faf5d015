/** Promises of src/parts/profiles, src/parts/models and src/parts/docs. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const profiles = ['test/parts/profiles/profiles.test.ts']
const models = ['test/parts/models/models.test.ts']

export const profilesMutations: readonly Mutation[] = [
  {
    file: 'src/parts/profiles/routes.ts',
    old: 'if (current.active_agent_profile_id !== null || !(await store.isEmpty())) return current',
    new: 'if (!(await store.isEmpty())) return current',
    promise: 'The settings become no profile where a pointer says that there was one.',
    tests: profiles,
  },
  {
    file: 'src/parts/profiles/routes.ts',
    old: "if (exchange.request.method === 'GET' && await store.isEmpty())",
    new: 'if (await store.isEmpty())',
    promise: 'HEAD stores nothing.',
    tests: profiles,
  },
  {
    file: 'src/parts/profiles/store.ts',
    old: "'profile' in entry ? sealSecrets(AgentProfile, entry.profile, cipher) : entry.unread",
    new: "'profile' in entry ? sealSecrets(AgentProfile, entry.profile, cipher) && entry.profile : entry.unread",
    promise: 'Credentials in the address of a critic are sealed in the file.',
    tests: profiles,
  },
  {
    file: 'src/parts/profiles/resolve.ts',
    old: 'const servers = Object.entries(configured).filter(([name]) => names.includes(name))',
    new: 'const servers = Object.entries(configured)',
    promise: 'An agent gets the MCP servers that its profile names, and no others.',
    tests: profiles,
  },
  {
    file: 'src/parts/profiles/resolve.ts',
    old: "redacted: unknown = exposeAgentSettings(settings, 'redacted', { cipher, providers })",
    new: "redacted: unknown = exposeAgentSettings(settings, 'plaintext', { cipher, providers })",
    promise: 'What a profile stands for is shown without secret values.',
    tests: profiles,
  },
  {
    file: 'src/settings/profile-changes.ts',
    old: 'if (users.length > 0) {',
    new: 'if (users.length > 1) {',
    promise: 'An LLM profile that an agent profile names is not deleted.',
    tests: profiles,
  },
  {
    file: 'src/settings/profiles.ts',
    old: 'const profile = { llm: withoutOwnKey(plainLlm(given, cipher)) }',
    new: 'const profile = { llm: plainLlm(given, cipher) }',
    promise: 'A profile with a provider connection has no key of its own.',
    tests: models,
  },
  {
    file: 'src/parts/models/connections.ts',
    old: "connections: [...connections.values()].map((one) => sealSecrets(ProviderConnection, one, cipher)),",
    new: "connections: [...connections.values()].map((one) => sealSecrets(ProviderConnection, one, cipher) && one),",
    promise: 'The key of a provider connection is sealed in the file.',
    tests: models,
  },
  {
    file: 'src/parts/models/connections.ts',
    old: 'await assertUnused()',
    new: '',
    promise: 'A provider connection in use is not removed.',
    tests: models,
  },
  {
    file: 'src/parts/docs/page.ts',
    old: ".replaceAll('<', '&lt;')",
    new: '',
    promise: 'Text of the description stays text on the page.',
    tests: ['test/parts/docs/docs.test.ts'],
  },
]
