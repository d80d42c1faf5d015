/** The skills that plugins bring to a conversation, up to the limit of all of them together. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { pluginsFor } from '../../../src/parts/extensions/conversation-plugins.ts'
import { Shelf } from '../../../src/parts/extensions/shelf.ts'
import { openMachine } from '../../../src/parts/workspace-files/machine.ts'
import { makeFolder } from '../../support/processes.ts'
import { member } from '../../support/rest.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/extensions conversation plugins')

test('a skill that does not fit is left out and logged, and a later, shorter one is used', async () => {
  const { folder, remove } = makeFolder()
  try {
    const plugin = join(folder, 'plugin')
    mkdirSync(join(plugin, 'skills'), { recursive: true })
    // Four of them fit into the 256 Ki characters, the fifth does not; the last one fits into the rest.
    const long = 60 * 1024
    for (const [name, length] of [['a', long], ['b', long], ['c', long], ['d', long], ['e', long], ['f', 5]] as const) {
      const text = `---\nname: ${name}\ndescription: About ${name}.\n---\n${name.repeat(length)}`
      writeFileSync(join(plugin, 'skills', `${name}.md`), text)
    }
    const logged: unknown[] = []
    const log = { warn: (_message: string, fields?: object): void => void logged.push(member(fields, 'skill')) }
    const { skills } = await pluginsFor({ named: [{ source: plugin }], withInstalled: false }, {
      plugins: new Shelf(join(folder, 'extensions'), 'plugins', log),
      machine: openMachine([]),
      privateDirs: [],
      readDefinition: () => Promise.reject(new AppError('invalid_input', 'There is no sub-agent')),
      log,
    })
    assert.equal(skills.map(({ name }) => name), ['a', 'b', 'c', 'd', 'f'])
    assert.equal(logged, ['e'])
  } finally {
    remove()
  }
})

test.run()
