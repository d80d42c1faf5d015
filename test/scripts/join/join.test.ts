import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { joinModules } from '../../../scripts/join/join.ts'
import { joinProgram } from '../../../scripts/join/program.ts'
import { suite } from '../../support/suite.ts'

const test = suite('join')
const folder = mkdtempSync(join(tmpdir(), 'join-'))
test.after(() => rmSync(folder, { recursive: true }))

type Texts = Readonly<Record<string, string>>

/** `a.js` is the entry. */
function joined(texts: Texts): string {
  return joinModules({ modules: new Map(
    Object.entries(texts),
  ), entry: 'a.js', header: '// joined\n', file: 'joined.js' }).get('joined.js') ?? ''
}

/**
 * Runs the joined modules. Returns the values that they print as JSON through `print`, which is known to all of them.
 */
function run(texts: Texts): unknown[] {
  const path = join(folder, 'joined.mjs')
  writeFileSync(path, joined(
    texts,
  ).replace('// joined\n', 'const print = (value) => console.log(JSON.stringify(value));\n'))
  const { stdout, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8' })
  assert.is(stderr, '')
  return stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
}

const cases: readonly [what: string, texts: Texts, printed: readonly unknown[]][] = [
  ['names, renamed on either side', {
    'a.js': "import { one, two as zwei, drei } from './b.js';\nprint([one(), zwei, drei]);",
    'b.js': 'export function one() { return 1; }\nexport const two = 2;\nconst three = 3;\nexport { three as drei };',
  }, [[1, 2, 3]]],
  ['functions of every kind and classes', {
    'a.js': "import { A, f, g, h, i } from './b.js';\nprint([new A().a, await f(), [...g()], h.name, await i().next()]);",
    'b.js': 'export class A { a = 1; }\nexport async function f() { return 2; }\nexport function* g() { yield 3; }\n' +
      'export const h = (a, b) => [a, b];\nexport async function* i() { yield 4; }',
  }, [[1, 2, [3], 'h', { value: 4, done: false }]]],
  ['a whole module, whose names are in order', {
    'a.js': "import * as b from './b.js';\nprint([b.z, Object.keys(b), 'toString' in b, typeof b]);",
    'b.js': 'export const z = 1;\nexport const a = 2;\nexport {};',
  }, [[1, ['a', 'z'], false, 'object']]],
  ['names that go through another module', {
    'a.js': "import { c, d } from './b.js';\nprint([c, d]);",
    'b.js': "export { c } from './c.js';\nimport { e } from './c.js';\nexport { e as d };",
    'c.js': 'export const c = 1;\nexport const e = 2;',
  }, [[1, 2]]],
  ['the same names in two modules, and names of the language', {
    'a.js': "import { x } from './b.js';\nimport { URL } from './c.js';\nconst y = 1;\nfunction local() { return 'a'; }\nprint([x, y, local(), URL]);",
    'b.js': "const y = 2;\nlet z = 3;\nfunction local() { return 'b'; }\nexport const x = [y, z, local()];",
    'c.js': "export const URL = 'mine';",
  }, [[[2, 3, 'b'], 1, 'a', 'mine']]],
  ['names of Node, renamed too', {
    'a.js': "import { join as a, posix } from 'node:path';\nimport { join } from './b.js';\nprint([a('b', 'c'), posix.sep, join]);",
    'b.js': "import { join as path } from 'node:path';\nexport const join = path('d', 'e');\nexport { sep } from 'node:path';",
  }, [['b/c', '/', 'd/e']]],
  ['strings, comments, templates and expressions that look like imports and exports', {
    'a.js': "import { s } from './b.js'; // import { t } from './c.js';\nprint(s);\n/* export default 1 */",
    'b.js': 'export const s = ["import { a } from \'b\';", `export ${["let"].map((a) => `${a} x`)};`, /export var ' +
      '[;,]/.test("a")];\n' +
      'const o = { export: 1, as: 2, from: 3, default: 4 };\no.import = o.export;',
  }, [["import { a } from 'b';", 'export let x;', false]]],
  ['every module once, behind what it imports', {
    'a.js': "import { b } from './b.js';\nimport { c } from './c.js';\nprint('a');",
    'b.js': "import { c } from './c.js';\nprint('b');\nexport const b = 1;",
    'c.js': "print('c');\nexport const c = 1;\nawait undefined;\nprint('c, later');",
    'd.js': "print('nobody needs this')",
  }, ['c', 'c, later', 'b', 'a']],
  ['a module that is used before its text ends, in strict mode', {
    'a.js': "import { late } from './b.js';\nprint(late());\nprint(this === undefined);",
    'b.js': 'export { late };\nconst value = 1;\nfunction late() { return value; }',
  }, [1, true]],
]
for (const [what, texts, printed] of cases) test(`joins ${what}`, () => assert.equal(run(texts), printed))

test('keeps the lines of a module, of which the first is the third below its name', () => {
  const texts = {
    'a.js': "#!/usr/bin/env node\nimport {\n  b,\n} from './b.js';\nimport { c } from './c.js';\nprint(b + c); // line 6 of a",
    'b.js': "import { c } from './c.js';\nimport {\n  d,\n} from './c.js';\nexport const b = c + d; // line 5 of b\n",
    'c.js': "export const c = 1;\n/* a\ncomment */\nexport const d = 2; // line 4 of c\n",
  }
  const lines = joined(texts).split('\n')
  for (const [name, line] of [['a', 6], ['b', 5], ['c', 4]] as const) {
    const start = lines.indexOf(`// ${name}.js`)
    assert.match(lines[start + 2 + line] ?? '', `// line ${line} of ${name}`)
  }
})

test('gives each module its own address, relative to the joined file', () => {
  const [one, two] = run({
    'a.js': "import { url } from './inner/b.js';\nprint(import.meta.url);\nprint(url);",
    'inner/b.js': "export const url = new URL('../c.txt', import.meta.url).href;",
  })
  assert.match(String(one), /^file:\/\/\/.*\/a\.js$/)
  assert.is(two, String(one).replace('a.js', 'c.txt'))
})

test('keeps the line that starts a program, and drops that of a source map', () => {
  const text = joined({
    'a.js': "#!/usr/bin/env node\n// first\nimport { b } from './b.js';\n//# sourceMappingURL=a.js.map",
    'b.js': '#!/usr/bin/env other\nexport const b = 1;\n//# sourceMappingURL=b.js.map\n',
  })
  assert.ok(text.startsWith('#!/usr/bin/env node\n// joined\n'))
  assert.is(text.match(/#!/g)?.length, 1)
  assert.not.match(text, 'sourceMappingURL')
  assert.match(text, '// first')
})

test('gives the same bytes whatever the order of the modules that it is given', () => {
  const texts: [string, string][] = [
    ['a.js', "import { b } from './b.js';\nimport { c } from './c.js';\nimport { sep, join } from 'node:path';"],
    ['b.js', "import { basename } from 'node:path';\nexport const b = 1;"],
    ['c.js', "import { readFileSync } from 'node:fs';\nexport const c = 1;"],
  ]
  assert.is(joined(Object.fromEntries(texts)), joined(Object.fromEntries(texts.reverse())))
})

test('reads no export of a module of Node that nobody asked for', () => {
  const [path, trap] = [join(folder, 'few-names.mjs'), join(folder, 'trap.cjs')]
  writeFileSync(path, joined({ 'a.js': "import { gunzipSync } from 'node:zlib';\nconsole.log(typeof gunzipSync);" }))
  writeFileSync(trap, "Object.defineProperty(require('zlib'), 'gzipSync', { get() { throw new Error('read'); } });")
  const { stderr, stdout } = spawnSync(process.execPath, ['--require', trap, path], { encoding: 'utf8' })
  assert.equal([stdout, stderr], ['function\n', ''])
})

const b = 'export const b = 1;'
const refusals: readonly [what: string, text: string, told: RegExp][] = [
  ['an import for its effect', "\nimport './b.js';", /a\.js:2: an import of another form/],
  ['a default import', "import b from './b.js';", /a\.js:1: an import of another form/],
  ['a default import beside names', "import c, { b } from './b.js';", /an import of another form/],
  ['an import at run time of a computed module', "\n\nconst f = (path) => import(path);",
    /a\.js:3: an import\(\) of another form/],
  ['an import at run time of a module that is not there', "const f = () => import('./c.js');",
    /"\.\/c\.js", which is not among the modules/],
  ['an import with attributes', "import { b } from './b.js' with { type: 'json' };", /"with" where ";" was expected/],
  ['another property of import.meta', 'const a = import.meta.dirname;', /"dirname" where "url" was expected/],
  ['a name that is a text', "import { 'b' as c } from './b.js';", /"b" where a name was expected/],
  ['an import without an end', "import { b", /a\.js:1: it ends within a statement/],
  ['a default export', 'export default 1;', /an export of another form/],
  ['everything of another module', "export * from './b.js';", /an export of another form/],
  ['everything of another module under a name', "export * as c from './b.js';", /an export of another form/],
  ['a variable', 'export let a = 1;', /an export of another form/],
  ['a variable in a list', 'let a = 1;\nexport { a };',
    /a\.js:2: an exported "a" that is no function, class or constant/],
  ['a name that is declared in a block', '{ const a = 1; }\nexport { a };', /an exported "a"/],
  ['a pattern', 'export const { a } = { a: 1 };', /"\{" where a name was expected/],
  ['several constants', "export const a = [1, ';'], c = `${1}`;", /several constants in one export/],
  ['a name that is exported twice', "export const b = 1;\nexport { b as c } from './b.js';\nexport { b as c };",
    /"c" exported twice/],
  ['var', 'if (true) {\n  var a = 1;\n}', /a\.js:2: "var", which no block holds/],
  ['a name that the joined file could have', 'const $a = 1;', /the name "\$a"/],
  ['such a name in an import', "import { b as $b } from './b.js';", /the name "\$b"/],
  ['a name with an escape', 'const \\u0024a = 1;', /a name that is written with an escape/],
  ['a package', "import { b } from 'b';", /"b", which is not among the modules/],
  ['a module that is not there', "import { b } from './c.js';", /"\.\/c\.js", which is not among the modules/],
  ['a name that is not exported', "import { b, c } from './b.js';", /"c", which "\.\/b\.js" does not export/],
  ['the same in an export', "export { c } from './b.js';", /"c", which "\.\/b\.js" does not export/],
  ['a name that Node lacks', "\nimport { sep, nothing } from 'node:path';", /a\.js:2: "nothing", which "node:path"/],
  ['a name that every object has', "import { toString } from 'node:path';", /"toString", which "node:path" does not/],
  ['a module that Node lacks', "import { sep } from 'node:nothing';", /"sep", which "node:nothing" does not export/],
  ['a whole module of Node', "import * as fs from 'node:fs';", /"node:fs" as a whole/],
  ['a module that imports itself', "import { a } from './a.js';\nexport const a = 1;", /a cycle through "\.\/a\.js"/],
]
for (const [what, text, told] of refusals) {
  test(`refuses ${what}, with its place`, () => {
    assert.throws(() => joined({ 'a.js': text, 'b.js': b }), (error: Error) => {
      return error instanceof SyntaxError && told.test(error.message)
    })
  })
}

test('refuses a cycle of several modules, and two modules that would share a name', () => {
  const cycle = {
    'a.js': "import { b } from './b.js';",
    'b.js': "import { c } from './c.js';\nexport const b = 1;",
    'c.js': "\nimport { b } from './b.js';\nexport const c = 1;",
  }
  assert.throws(() => joined(cycle), /c\.js:2: a cycle through "\.\/b\.js"/)
  const names = {
    'a.js': "import { b } from './b-c.js';\nimport { c } from './b_c.js';",
    'b-c.js': b,
    'b_c.js': 'export const c = 1;',
  }
  assert.throws(() => joined(names), /b_c\.js:1: two things that are named \$b_c/)
  const taken = { 'a.js': "import { b } from './node/fs.js';", 'node/fs.js': b }
  assert.throws(() => joined(taken), /two things that are named \$node\$fs/)
})

test('puts modules that are only loaded into files of their groups, which take the others from the core', () => {
  const files = joinModules({
    modules: new Map(Object.entries({
      'a.js': "import { b } from './b.js';\nconst { c } = await import('./parts/c/c.js');\nprint([b, c, (await import('./parts/d/d.js')).d]);",
      'b.js': 'export const b = 1;',
      'e.js': 'export const e = 10;',
      'parts/c/c.js': "import { b } from '../../b.js';\nimport { e } from '../../e.js';\nexport const c = b + e;",
      'parts/d/d.js': "import { c } from '../c/c.js';\nexport const d = c + 1;",
    })),
    entry: 'a.js',
    header: 'const print = (value) => console.log(JSON.stringify(value));\n',
    file: 'several.js',
    groupOf: (path) => /^parts\/(\w+)/.exec(path)?.[1],
  })
  assert.equal([...files.keys()], ['several.js', 'several.core.js', 'several.c.js', 'several.d.js'])
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'several.js')], { encoding: 'utf8' })
  assert.is(stderr, '')
  assert.is(stdout, '[1,11,12]\n')
  assert.not.match(files.get('several.core.js') ?? '', 'parts/')
})

test('says which module is missing when it is the entry', () => {
  assert.throws(() => joined({ 'b.js': b }), /Cannot join a\.js: there is no such module/)
})

test('the built program is what its modules give', () => {
  const dist = fileURLToPath(new URL('../../../', import.meta.url))
  const files = joinProgram(dist)
  for (const [name, text] of files) assert.ok(readFileSync(join(dist, name), 'utf8') === text, name)
  assert.equal(readdirSync(dist).filter((name) => name.endsWith('.js')).sort(), [...files.keys()].sort())
})

test.run()
