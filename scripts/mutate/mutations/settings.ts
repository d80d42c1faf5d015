/** Promises of src/settings: sealing, masks, keys. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const cipher = ['test/settings/cipher.test.ts']

export const settingsMutations: readonly Mutation[] = [
  {
    file: 'src/settings/cipher.ts',
    old: 'return Buffer.from(`${prefix}${id}\\0${context}`)',
    new: 'return Buffer.from(`${prefix}${id}\\0${context.length}`)',
    promise: 'A sealed value opens in its own field only.',
    tests: cipher,
  },
  {
    file: 'src/settings/cipher.ts',
    old: 'if (key === undefined || !isCanonical ||',
    new: 'if (key === undefined ||',
    promise: 'A sealed value has one spelling.',
    tests: cipher,
  },
  {
    file: 'src/settings/cipher.ts',
    old: 'const nonce = random(nonceBytes)',
    new: 'const nonce = Buffer.alloc(nonceBytes)',
    promise: 'Each sealing has a nonce of its own.',
    tests: cipher,
  },
  {
    file: 'src/settings/keys.ts',
    old: '[await deriveKey(secretKey), ...old, ...stored]',
    new: '[...stored, await deriveKey(secretKey), ...old]',
    promise: 'A configured key seals, and the one in keys/ only opens.',
    tests: ['test/settings/keys.test.ts'],
  },
  {
    file: 'src/settings/patch.ts',
    old: ': withoutKeysOfOldPlace(agent, { ...nextAgent, llm: profile }, { ...agentDiff, llm: profile }),',
    new: ': { ...withoutKeysOfOldPlace(agent, nextAgent, agentDiff ?? {}), llm: profile },',
    promise: 'A profile that becomes active takes no key of a critic to another place.',
    tests: ['test/settings/model-home.test.ts'],
  },
  {
    file: 'src/conversation/agent/vault.ts',
    old: 'return { ...agent, condenser, critic: stays ? critic : { ...critic, api_key: null } }',
    new: 'return { ...agent, condenser, critic: stays ? critic : { ...critic, api_key: critic.api_key } }',
    promise: 'A switch of the model takes no key of a critic to another place.',
    tests: ['test/conversation/agent/vault.test.ts'],
  },
  {
    file: 'src/settings/keys.ts',
    old: 'await chmod(path, 0o600)',
    new: 'await chmod(path, 0o644)',
    promise: 'A key file is readable by its owner only, a restored one too.',
    tests: ['test/settings/keys.test.ts'],
  },
  {
    file: 'src/settings/secret-values.ts',
    old: 'return value.trim() === \'\' || value.trim() === redactedValue',
    new: 'return value.trim() === \'\'',
    promise: 'A mask that is sent back is never saved as a value.',
    tests: [
      'test/settings/secret-fields.test.ts', 'test/settings/store-secrets.test.ts', 'test/settings/secrets.test.ts',
    ],
  },
  {
    file: 'src/settings/merge.ts',
    old: 'return isObject(base) && isObject(patch) ? mergePatch(base, patch) : patch',
    new: 'return isObject(base) && isObject(patch) ? mergeFields(base, patch) : patch',
    promise: 'A null inside a patch deletes at every depth.',
    tests: ['test/settings/merge.test.ts'],
  },
  {
    file: 'src/settings/expose.ts',
    old: '() => redactedValue',
    new: '(secret) => secret.slice(0, 2) + redactedValue',
    promise: 'A redacted view shows nothing of a secret.',
    tests: ['test/settings/store-secrets.test.ts', 'test/settings/profiles.test.ts'],
  },
  {
    file: 'src/settings/credentials.ts',
    old: 'const removedKeys = login === \'yes\' || strips ? keyVariables : []',
    new: 'const removedKeys = strips ? keyVariables : []',
    promise: 'Where a login is there, the key of the provider is taken away.',
    tests: ['test/settings/credentials.test.ts'],
  },
  {
    file: 'src/settings/lookup.ts',
    old: 'if (isOwn(target, serverUrls)) return options.globalSecret(ownSecretName(target))',
    new: 'if (isOwn(target, [])) return options.globalSecret(ownSecretName(target))',
    promise: 'A lookup of a secret of this server is resolved in the process and not over HTTP.',
    tests: ['test/settings/lookup.test.ts'],
  },
  {
    file: 'src/settings/profiles.ts',
    old: 'return mode === \'redacted\' ? { ...llm, api_key: null } : llm',
    new: 'return llm',
    promise: 'A redacted profile shows not even the mark of a key.',
    tests: ['test/settings/profiles.test.ts'],
  },
  {
    file: 'src/sealed-stores.ts',
    old: 'return keys.length === 0 ? [] : [`Something',
    new: 'return keys.length >= 0 ? [] : [`Something',
    promise: 'A sealing key that only conversations need is missed at the start.',
    tests: ['test/e2e/sealing-keys-long.test.ts'],
  },
  {
    file: 'src/parts/sealing-keys/reseal-conversation.ts',
    old: 'if ([...before].every((id) => id === newest)) return before',
    new: 'if (newest !== \'\') return before',
    promise: 'A reseal seals the secrets of conversations with the newest key.',
    tests: ['test/e2e/reseal-long.test.ts'],
  },
  {
    file: 'src/settings/acp-env.ts',
    old: 'if (isLoaderVariable(name)) return `${shown} decides which code programs load`',
    new: '',
    promise: 'A variable of an agent that decides which code programs load is refused.',
    tests: ['test/settings/acp-env.test.ts'],
  },
  {
    file: 'src/settings/providers.ts',
    old: 'others.find(({ name }) => name === acp_command[0]) : undefined',
    new: 'others.find(({ name }) => name === \'\') : undefined',
    promise: 'The name of an entry of the table as the only word of the command chooses that entry.',
    tests: ['test/settings/providers.test.ts'],
  },
]
