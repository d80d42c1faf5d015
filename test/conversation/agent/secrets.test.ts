/** Which value an agent gets for a name: the conversation's own, a global one, or none. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { isLoaderVariable } from '../../../src/base/loader-variable.ts'
import { silentLog } from '../../../src/base/log.ts'
import { createMasker } from '../../../src/base/masking.ts'
import { createAgentSecrets } from '../../../src/conversation/agent/secrets.ts'
import { createAgentVault } from '../../../src/conversation/agent/vault.ts'
import { createCipher } from '../../../src/settings/cipher.ts'
import { createMaskedValues } from '../../../src/settings/masked-values.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { createSecretStore } from '../../../src/settings/secrets.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/agent/secrets')

test('a global secret does not stand in for a secret of the conversation whose lookup fails', async () => {
  const { folder, remove } = makeFolder()
  const masker = createMasker()
  const cipher = createCipher({ keys: [Buffer.alloc(32, 1)], random: randomBytes })
  const globals = createSecretStore({ path: join(folder, 'secrets.json'), cipher, masker, isLoaderVariable })
  for (const name of ['API_KEY', 'EMPTY', 'OTHER']) {
    await globals.put({ name, value: `the global ${name}`, description: null })
  }
  const vault = createAgentVault({
    cipher, providers: builtInProviders, setMasked: createMaskedValues(masker), isLoaderVariable,
  })
  const used: string[][] = []
  const secrets = createAgentSecrets({
    vault, globals, log: silentLog, serverUrls: ['http://127.0.0.1:8000'],
    fetchText: () => Promise.reject(new AppError('upstream_failed', 'No connection')),
    onUsed: (owner, names) => used.push([owner, ...names]),
  })
  const sources = vault.sealSources('conversation', {
    API_KEY: { kind: 'LookupSecret', url: 'https://secrets.example/api-key', headers: {} },
    OWN: { kind: 'StaticSecret', value: 'the own OWN' },
    EMPTY: { kind: 'StaticSecret' },
  }, false)
  const signal = new AbortController().signal
  const values = await secrets.resolve('conversation', sources, () => true, signal)
  assert.equal(Object.fromEntries(values), {
    OTHER: 'the global OTHER', OWN: 'the own OWN', EMPTY: 'the global EMPTY',
  })
  await secrets.resolve('conversation', sources, () => false, signal)
  assert.equal(used, [['conversation', 'EMPTY', 'OTHER', 'OWN']], 'the names of the values are told once')
  remove()
})

test.run()
