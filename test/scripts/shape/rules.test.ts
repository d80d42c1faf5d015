import * as assert from 'uvu/assert'
import { formatFinding } from '../../../scripts/shape/finding.ts'
import { powers } from '../../../scripts/shape/power-table.ts'
import { checkMissingFiles } from '../../../scripts/shape/powers.ts'
import { checkShape } from '../../../scripts/shape/rules.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/rules')

const header = '/**\n * A first line.\n * A second line.\n * A third line.\n */\n'

/** Returns the findings about one file, each as `line rule`, without warnings. */
function find(path: string, text: string): string[] {
  return check({ [path]: text }).map(({ line, rule }) => `${line} ${rule}`)
}

function check(sources: Record<string, string>, security?: string) {
  const findings = checkShape({ sources: new Map(Object.entries(sources)), security })
  // The files here are of one line: most use none of the powers that their path has.
  return findings.filter(({ warning, message }) => warning !== true && !message.includes('where nothing uses it'))
}

/** Code of one line, put into line 6 of a file with a header. */
const violations: readonly [name: string, path: string, code: string, rule: string][] = [
  ['an import that the table does not allow', 'src/ws/a.ts', "import { b } from '../http/b.ts'", 'imports'],
  [
    'an import of a type that the table does not allow',
    'src/ws/a.ts',
    "import type { B } from '../http/b.ts'",
    'imports',
  ],
  ['a re-export that the table does not allow', 'src/base/a.ts', "export * from '../schema/b.ts'", 'imports'],
  [
    'an import from the demo agent, a program of its own',
    'src/agents/acp/a.ts',
    "import { b } from '../../parts/demo/b.ts'",
    'imports',
  ],
  [
    'an import of the heart into a program of its own',
    'src/parts/demo/a.ts',
    "import { b } from '../../conversation/b.ts'",
    'imports',
  ],
  ['an import of the composition root', 'src/api/a.ts', "import { b } from '../app.ts'", 'imports'],
  ['an import from a folder without a row', 'src/base/a.ts', "import { b } from '../things/b.ts'", 'imports'],
  ['an import from outside src', 'src/base/a.ts', "import { b } from '../../test/b.ts'", 'imports'],
  ['an import of a package', 'src/base/a.ts', "import { b } from 'uvu'", 'imports'],
  ['an import of a module of Node without its prefix', 'src/base/a.ts', "import { join } from 'path'", 'imports'],
  ['programs started outside process/', 'src/workspace/git.ts', "import { spawn } from 'node:child_process'", 'powers'],
  ['programs ended outside process/', 'src/workspace/git.ts', 'process.kill(pid)', 'powers'],
  ['requests outside net', 'src/settings/other.ts', "import { request } from 'node:https'", 'powers'],
  ['a request by fetch', 'src/settings/a.ts', 'const a = fetch', 'powers'],
  ['a request by fetch in a conditional', 'src/settings/a.ts', 'const a = b ? fetch : c', 'powers'],
  ['a socket', 'src/rpc/a.ts', "import { connect } from 'node:net'", 'powers'],
  ['a listening socket', 'src/ws/a.ts', "import { createServer } from 'node:http'", 'powers'],
  ['files in a folder that owns none', 'src/api/events.ts', "import { readFile } from 'node:fs/promises'", 'powers'],
  [
    'files through a dynamic import',
    'src/api/events.ts',
    "const { readFile } = await import('node:fs/promises')",
    'powers',
  ],
  ['files through a re-export', 'src/api/events.ts', "export { readFile } from 'node:fs/promises'", 'powers'],
  ['a file that is read through a door', 'src/api/a.ts', "import { readFile } from '../base/read-files.ts'", 'powers'],
  ['a file changed through a door', 'src/api/a.ts', "import { removeTree } from '../base/own-files.ts'", 'powers'],
  ['a JSON file that is changed', 'src/api/a.ts', "import { writeJsonFile } from '../base/json-file.ts'", 'powers'],
  ['a door as a whole', 'src/api/a.ts', "import * as files from '../base/json-file.ts'", 'powers'],
  ['the environment', 'src/app.ts', 'const a = process.env.HOME', 'powers'],
  ['the environment through a pattern', 'src/app.ts', 'const { env } = process', 'powers'],
  ['the end of the process', 'src/app.ts', 'process.exit(1)', 'powers'],
  ['a signal handler', 'src/app.ts', "process.on('SIGTERM', a)", 'powers'],
  ['the home folder', 'src/settings/login.ts', "import { homedir } from 'node:os'", 'powers'],
  [
    'cryptography in a file that has no need of it',
    'src/api/events.ts',
    "import { randomBytes } from 'node:crypto'",
    'powers',
  ],
  ['the global crypto', 'src/api/events.ts', 'crypto.randomUUID()', 'powers'],
  ['a whole module where names matter', 'src/http/server.ts', "import * as http from 'node:http'", 'powers'],
  ['a module that is in no row', 'src/cli/main.ts', "import { run } from 'node:vm'", 'powers'],
  ['eval', 'src/base/a.ts', 'eval(b)', 'dangerous'],
  ['new Function', 'src/base/a.ts', "new Function('b')", 'dangerous'],
  ['the global object', 'src/base/a.ts', "globalThis['eval']", 'dangerous'],
  ['the global object by its old name', 'src/base/a.ts', "global['eval']", 'dangerous'],
  ['Reflect', 'src/base/a.ts', "Reflect.get(a, 'b')", 'dangerous'],
  ['a constructor reached through a value', 'src/base/a.ts', 'a.constructor(b)', 'dangerous'],
  ['a constructor taken out of a value', 'src/base/a.ts', 'const { constructor: b } = a', 'dangerous'],
  ['the name of a constructor as a text', 'src/base/a.ts', "a['constructor']", 'dangerous'],
  ['the name of a constructor in pieces', 'src/base/a.ts', "const b = 'constr' + 'uctor'", 'dangerous'],
  ['the name of a constructor put together of constants', 'src/base/a.ts',
    "const b = a + 'uctor'\nconst a = 'constr'", 'dangerous'],
  ['the name of a constructor with a part in parentheses', 'src/base/a.ts', "b(('constr') + 'uctor')", 'dangerous'],
  ['an escape in a name', 'src/base/a.ts', "ev\\u0061l('b')", 'dangerous'],
  ['the name of a constructor as a list', 'src/base/a.ts', "b(['constr', 'uctor'].join(''))", 'dangerous'],
  ['the name of a constructor in a template', 'src/base/a.ts', "const b = `constr${'uctor'}`", 'dangerous'],
  ['the name of a constructor with an escape', 'src/base/a.ts', "a['constr\\x75ctor']", 'dangerous'],
  ['a way to a module of Node', 'src/base/a.ts', "b('getBuiltin' + 'Module')", 'dangerous'],
  ['a member named by a sum of texts', 'src/base/a.ts', "a[b + 'c']", 'dangerous'],
  ['a member named by a template', 'src/base/a.ts', 'a?.[`${b}c`]', 'dangerous'],
  ['a member named by a call that makes a text', 'src/base/a.ts', 'a[String.fromCharCode(b)]', 'dangerous'],
  ['a member named by a method of a text', 'src/base/a.ts', "a()['b'.concat(c)]", 'dangerous'],
  ['require', 'src/base/a.ts', "require('node:fs')", 'dangerous'],
  ['a computed import', 'src/base/a.ts', 'await import(b)', 'dangerous'],
  ['an import computed from a constant', 'src/base/a.ts', "await import('./' + b)", 'dangerous'],
  ['the type any', 'src/base/a.ts', 'const a: any = b', 'any'],
  ['a list of any', 'scripts/a.ts', 'function a(b: any[]) {}', 'any'],
  ['any as an argument of a type', 'test/a.test.ts', 'const a = new Map<string, any>()', 'any'],
  ['a non-null assertion', 'src/base/a.ts', 'const a = b!', 'non-null'],
  ['a non-null assertion behind a call', 'src/base/a.ts', 'b(c)!.d', 'non-null'],
  ['a non-null assertion behind an element', 'test/a.test.ts', 'b[0]!.d', 'non-null'],
  ['a definite assignment', 'src/base/a.ts', 'let a!: string', 'non-null'],
  ['a cast', 'src/base/a.ts', 'const a = b as C', 'cast'],
  ['a cast of a call to a literal type', 'src/base/a.ts', 'const a = b() as { c: D }', 'cast'],
  ['a cast of a literal', 'src/base/a.ts', 'const a = { b } as C', 'cast'],
  ['a cast to a union in parentheses', 'src/base/a.ts', 'const a = [b as (C | D)]', 'cast'],
  ['a cast in a template', 'src/base/a.ts', 'const a = `${b as C}`', 'cast'],
  ['printing', 'src/base/a.ts', "console.log('a')", 'console'],
  ['a postponed piece of work', 'src/base/a.ts', '// TODO: later', 'comment'],
  ['a silenced compiler', 'test/a.test.ts', '// @ts-expect-error', 'comment'],
  ['a vague file name', 'src/base/string-utils.ts', 'const a = 1', 'name'],
  ['a vague folder name', 'src/agents/acp/common/a.ts', 'const a = 1', 'name'],
  ['a name that is not in kebab-case', 'src/base/jsonFile.ts', 'const a = 1', 'name'],
]
for (const [name, path, code, rule] of violations) {
  test(`finds ${name}`, () => assert.equal(find(path, `${header}${code}\n`), [`${rule === 'name' ? 1 : 6} ${rule}`]))
}

const clean: readonly [name: string, path: string, code: string][] = [
  [
    'imports that the table allows',
    'src/api/a.ts',
    "import { b } from '../conversation/b.ts'\nimport { c } from './c.ts'\nimport d from '../base/d.ts'",
  ],
  [
    'modules that harm nobody',
    'src/base/a.ts',
    "import { join } from 'node:path'\nimport * as url from 'node:url'\nimport { isIP } from 'node:net'",
  ],
  [
    'types of any module',
    'src/ws/a.ts',
    "import type { Server } from 'node:http'\nimport { type Stats } from 'node:fs'",
  ],
  ['powers where they belong', 'src/process/child.ts', "import { spawn } from 'node:child_process'\nprocess.kill(1)"],
  ['the environment in the command line', 'src/cli/main.ts', "process.env.A\nprocess.exitCode = 1\nconsole.log('a')"],
  [
    'members and keys that are named like globals',
    'src/base/a.ts',
    'a.fetch(b.eval, c?.process)\nconst d = { fetch: 1, process: 2 }\ninterface E {\n  fetch?: F\n  crypto: G\n}',
  ],
  [
    'members named by names, numbers and indexes', 'src/base/a.ts',
    "const b = a[c] ?? a[d.e] ?? a[0] ?? a['f-g'] ?? a[c.indexOf('h') + 1]\nconst i = [`${b}`]\nlet [j = 'k' + l] = i",
  ],
  ['a constructor of a class', 'src/base/a.ts', 'class A {\n  constructor(b: C) {\n  }\n}'],
  ['harmless members of process', 'src/base/a.ts', 'process.nextTick(a, process.pid)'],
  ['words that only begin like a global', 'src/base/a.ts', 'processes(fetched, global)'],
  ['a constant dynamic import', 'src/cli/main.ts', "await import('../agent-server.ts')"],
  ['names made at random', 'src/api/events.ts', "import { randomUUID } from 'node:crypto'"],
  ['words in strings, comments and patterns', 'src/base/a.ts',
    "// eval(a as any)!\nconst b = 'c as any, console.log'\nconst d = /e!: any/\nconst f = `g! as any`"],
  ['constant assertions and renamed names', 'src/base/a.ts', "import { b as c, type D as E } from './b.ts'\nimport f, { g as h } from './f.ts'\nexport type { i as J } from './f.ts'\nexport * as k from './b.ts'\nexport { c as l }\nconst m = [1] as const"],
  ['a key of a mapped type', 'src/base/a.ts', 'type A = { [K in B as C<K>]: D }'],
  [
    'names that look like operators and types',
    'src/base/a.ts',
    'a.as(b)\nconst c = { as: d, any: 1 }\nconst e = f.as\nPromise.any([g])\nAbortSignal.any(h)',
  ],
  ['inequality and negation', 'src/base/a.ts', 'if (a !== b && !c && d != e) return !f\nconst g = [!h, !i]'],
  ['generated code as it comes', 'src/schema/generated/a.ts', 'return a as B'],
  [
    'a test with files and programs, without a header',
    'test/base/a.test.ts',
    "import { spawn } from 'node:child_process'\nimport { suite } from '../support/suite.ts'",
  ],
]
for (const [name, path, code] of clean) {
  test(`passes ${name}`, () => assert.equal(find(path, `${header}${code}\n`), []))
}

test('asks every file of src for a header, behind the line of an interpreter too', () => {
  const short = '/** One line. */\n'
  assert.equal(find('src/base/a.ts', 'const a = 1\n'), ['1 header'])
  assert.equal(find('src/base/a.ts', short), [])
  assert.equal(find('src/base/a.ts', '/** */\nconst a = 1\n'), ['1 header'])
  assert.equal(find('src/base/a.ts', `const a = 1\n${header}`), ['1 header'])
  assert.equal(find('src/cli/main.ts', `#!/usr/bin/env node\n${header}`), [])
  assert.equal(find('test/a.test.ts', short), [])
})

test('gives the line of a word inside a long comment', () => {
  assert.equal(find('src/base/a.ts', `${header}/*\n * a\n * FIXME\n */\n`), ['8 comment'])
})

test('reports a file that no row of the import table covers', () => {
  assert.equal(find('src/things/a.ts', header), ['1 imports'])
  assert.equal(find('src/things.ts', header), ['1 imports'])
})

test('reports a cycle once, at the import that closes it, types and detours included', () => {
  const found = check({
    'src/ws/a.ts': `${header}import type { B } from './b.ts'\n`,
    'src/ws/b.ts': `${header}import { c } from './c.ts'\n`,
    'src/ws/c.ts': `${header}import { a } from './a.ts'\nimport { d } from './d.ts'\n`,
    'src/ws/d.ts': header,
  })
  assert.is(found.length, 1)
  assert.is(found[0]?.file, 'src/ws/c.ts')
  assert.is(found[0]?.line, 6)
  assert.match(found[0]?.message ?? '', 'src/ws/a.ts -> src/ws/b.ts -> src/ws/c.ts -> src/ws/a.ts')
})

test('reports a circle of two rows whose files import each other\'s folders', () => {
  const found = check({
    'src/parts/install/a.ts': `${header}import { b } from '../../cli/b.ts'\n`,
    'src/cli/b.ts': `${header}export const b = 1\n`,
    'src/cli/c.ts': `${header}import { d } from '../parts/install/d.ts'\n`,
    'src/parts/install/d.ts': `${header}export const d = 1\n`,
  }).filter(({ rule }) => rule === 'circles')
  // Both are rows and folders.
  assert.equal(found.map(({ file }) => file), [
    'src/cli/c.ts', 'src/cli/c.ts', 'src/parts/install/a.ts', 'src/parts/install/a.ts',
  ])
})

test('reports a circle of two folders of one row, a folder and its subfolder too', () => {
  const circles = (sources: Readonly<Record<string, string>>): string[] =>
    check(sources).filter(({ rule }) => rule === 'circles').map(({ file }) => file)
  const one = `${header}export const one = 1\n`
  assert.equal(circles({
    'src/parts/mcp/a.ts': `${header}import { one } from './oauth/b.ts'\n`,
    'src/parts/mcp/oauth/b.ts': one,
    'src/parts/mcp/oauth/c.ts': `${header}import { one } from '../d.ts'\n`,
    'src/parts/mcp/d.ts': one,
  }), ['src/parts/mcp/a.ts', 'src/parts/mcp/oauth/c.ts'])
  assert.equal(circles({
    'src/parts/mcp/a.ts': `${header}import { one } from './oauth/b.ts'\n`,
    'src/parts/mcp/oauth/b.ts': `${header}import { one } from './c.ts'\n`,
    'src/parts/mcp/oauth/c.ts': one,
  }), [])
  // Files of src itself are no folder: the contract of the parts and their list stand side by side there.
  assert.equal(circles({
    'src/parts.ts': `${header}import { one } from './parts/mcp/part.ts'\n`,
    'src/parts/mcp/part.ts': `${header}import { one } from '../../part.ts'\n`,
    'src/part.ts': one,
  }), [])
})

test('reports a file that imports itself', () => {
  assert.equal(find('src/ws/a.ts', `${header}export * from './a.ts'\n`), ['6 cycles'])
})

test('limits the length of files and functions, and warns before', () => {
  const file = (lineCount: number): string => header + '\n'.repeat(lineCount - 5)
  assert.equal(find('src/base/a.ts', file(401)), ['401 size'])
  assert.equal(find('src/schema/generated/a.ts', file(401)), [])
  const warnings = (lineCount: number) =>
    checkShape({ sources: new Map([['src/base/a.ts', file(lineCount)]]), security: undefined }).filter(({ rule }) => {
      return rule === 'size'
    })
  assert.equal(warnings(301).map(({ warning }) => warning), [true])
  assert.equal(warnings(300), [])
  const body = (lineCount: number): string => `${header}function a() {${'\n'.repeat(lineCount - 1)}}\n`
  assert.equal(find('src/base/a.ts', body(61)), ['6 function'])
  assert.equal(find('src/base/a.ts', body(60)), [])
})

test('looks at the citations of src, scripts and tests', () => {
  for (const path of ['src/base/a.ts', 'scripts/a.ts', 'test/a.test.ts']) {
    const sources = new Map([[path, '/** Rules: decisions 7. */\nexport {}\n']])
    const documents = new Map([['src/DECISIONS.md', '# Decisions\n\n## 6. Durable\n']])
    const rules = checkShape({ sources, documents, security: undefined }).map(({ file, rule }) => `${file}: ${rule}`)
    assert.ok(rules.includes(`${path}: citations`), path)
  }
})

test('finds lines of more than 120 columns', () => {
  const rulesOf = (path: string, line: string): string[] =>
    checkShape({ sources: new Map([[path, `${header}${line}\n`]]), security: undefined }).map(({ rule }) => rule)
  assert.equal(rulesOf('src/base/a.ts', `// ${'é'.repeat(117)}`), [])
  assert.equal(rulesOf('src/base/a.ts', `// ${'é'.repeat(118)}`), ['columns'])
  assert.equal(rulesOf('test/a.test.ts', `// ${'é'.repeat(118)}`), ['columns'])
})

test('finds lines of more than 120 columns in scripts in plain JavaScript', () => {
  const rulesOf = (line: string): string[] => {
    const plainScripts = new Map([['scripts/a.mjs', `${line}\n`]])
    return checkShape({ sources: new Map(), plainScripts, security: undefined }).map(({ rule }) => rule)
  }
  assert.equal(rulesOf(`// ${'é'.repeat(117)}`), [])
  assert.equal(rulesOf(`// ${'é'.repeat(118)}`), ['columns'])
})

test('lets a wide literal be in a longer line outside of src', () => {
  const rulesOf = (line: string, path = 'test/a.test.ts'): string[] =>
    checkShape({ sources: new Map([[path, `${header}${line}\n`]]), security: undefined }).map(({ rule }) => rule)
  const text = `'${'é'.repeat(78)}'`
  assert.equal(rulesOf(`const a = [${text}, ${'b, '.repeat(20)}]`), [])
  assert.equal(rulesOf(`const a = [${text}, ${'b, '.repeat(20)}]`, 'src/base/a.ts'), ['columns'])
  assert.equal(rulesOf(`const a = ['${'é'.repeat(77)}', ${'b, '.repeat(20)}]`), ['columns'])
  assert.equal(rulesOf(`const a = /${'e'.repeat(120)}/`), [])
  assert.equal(rulesOf(`const a = \`${'e'.repeat(30)}\${b}${'e'.repeat(50)}\` + ${'b + '.repeat(20)}b`), [])
  assert.equal(rulesOf(`const a = \`e\n${'e'.repeat(121)}\nb\``), [])
  assert.equal(rulesOf(`const a = \`e\ne\`\nconst ${'b'.repeat(121)} = 1`), ['columns'])
})

test('finds a power that is granted and not used, and a file that is not there', () => {
  const found = (code: string): string[] => {
    const findings = checkShape({
      sources: new Map([['src/http/server.ts', `${header}${code}\n`]]), security: undefined,
    })
    return findings.filter(({ message }) => message.startsWith('"Listen" is granted to this file')).map(({ rule }) => {
      return rule
    })
  }
  assert.equal(found(''), ['powers'])
  assert.equal(found("import type { Server } from 'node:http'"), ['powers'])
  assert.equal(found("import { createServer } from 'node:http'"), [])
  const known = powers.flatMap(({ files }) => files)
  assert.equal(checkMissingFiles(new Set(known)), [])
  assert.match(checkMissingFiles(new Set(known.slice(1)))[0]?.message ?? '', known[0] ?? '')
})

test('sorts by file and line and prints place, rule and remedy', () => {
  const [first, second] = check({ 'src/base/b.ts': `${header}a!\n`, 'src/base/a.ts': `${header}\nb!\nc!\n` })
  assert.equal([first?.file, first?.line, second?.line], ['src/base/a.ts', 7, 8])
  assert.is(
    first && formatFinding(first),
    'src/base/a.ts:7: non-null: handle the missing case, or throw with the reason it cannot be',
  )
  assert.is(
    formatFinding({ file: 'a.ts', line: 1, rule: 'size', message: 'long', warning: true }),
    'a.ts:1: warning: size: long',
  )
})

test.run()
