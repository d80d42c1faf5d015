/** The locks of this release: for every pinned package, complete, and with no address in them. */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { findLock, shippedLocks } from '../../../src/parts/install/lock.ts'
import { objectOf } from '../../../src/base/fields.ts'
import { isObject } from '../../../src/base/json.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents install locks')
/** The sources of the locks. */
const folder = new URL('../../../../src/parts/install/locks/', import.meta.url)
const pinned = builtInProviders.filter(({ packageName }) => packageName !== '')

test('there is a lock for each pinned package, and no other', () => {
  const names = pinned.map(({ name }) => name).sort()
  assert.equal([...shippedLocks.keys()].sort(), names)
  assert.equal(readdirSync(folder).sort(), names.map((name) => `${name}.ts`))
})

for (const { name, packageName, version, programs } of pinned) {
  test(`${name}: locks the pinned version whole, each package by its digest`, async () => {
    const lock = await findLock(shippedLocks, { name, packageName, version, platform: 'linux-x64' })
    assert.ok(lock !== undefined)
    const { '': root, ...packages } = lock.packages
    assert.equal(root, { dependencies: { [packageName]: version } })
    assert.is(objectOf(packages[`node_modules/${packageName}`])['version'], version)
    for (const [path, about] of Object.entries(packages)) {
      assert.ok(isObject(about) && /^sha512-[A-Za-z0-9+/]{86}==$/.test(String(about['integrity'])), path)
    }
    const names = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')))
    const wanted = Object.values(packages).flatMap((about) => {
      return Object.keys(objectOf(objectOf(about)['optionalDependencies']))
    })
    // An alias is another package's archive: npm finds it by the name in the lock.
    const aliases = Object.values(packages).flatMap((about) => {
      return Object.entries({
        ...objectOf(objectOf(about)['dependencies']), ...objectOf(objectOf(about)['optionalDependencies']),
      })
    })
      .filter(([, range]) => String(range).startsWith('npm:')).map(([alias]) => alias)
    const unnamed = aliases.filter((alias) => objectOf(packages[`node_modules/${alias}`])['name'] === undefined)
    assert.equal(unnamed, [])
    // npm refuses a lock in which one of them is missing.
    assert.equal(wanted.filter((name) => !names.has(name)), [])
    for (const platform of lock.platforms) {
      const program = programs[platform] ?? ''
      assert.ok(
        program === '' || Object.keys(packages).some((path) => `node_modules/${program}`.startsWith(`${path}/`)),
        program,
      )
    }
  })

  test(`${name}: names no registry`, () => {
    assert.not.match(readFileSync(new URL(`${name}.ts`, folder), 'utf8'), /https?:|"resolved"/)
  })
}

test('a lock is for its own package, version and platforms', async () => {
  const { name, packageName, version } = pinned.find((provider) => provider.name === 'cline') ??
    { name: '', packageName: '', version: '' }
  const query = { name, packageName, version, platform: 'linux-x64' }
  assert.ok(await findLock(shippedLocks, query) !== undefined)
  for (const changes of [
    { version: '0.0.0' }, { packageName: 'other' }, { platform: 'sunos-sparc' }, { name: 'none' },
  ]) {
    assert.is(await findLock(shippedLocks, { ...query, ...changes }), undefined)
  }
})

test.run()
