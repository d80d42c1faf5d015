/** Option bags that are spread across the border of a module. */
import * as assert from 'uvu/assert'
import { checkBags } from '../../../scripts/shape/bags.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/bags')

const cipher = 'export interface Cipher {\n  seal(text: string): string\n}\n'
const options = "import type { Cipher } from './cipher.ts'\n"
  + 'export interface StoreOptions {\n  readonly path: string\n  readonly cipher: Cipher\n}\n'

function find(code: string, more: Readonly<Record<string, string>> = {}): string[] {
  const texts = { 'src/cipher.ts': cipher, 'src/options.ts': options, 'src/a.ts': code, ...more }
  const files = Object.entries(texts).map(([path, text]) => readSource(path, text))
  return checkBags(files).map(({ file, line, message }) => `${file}:${line} ${message.replace(/:.*/, '')}`)
}

const head = "import { open } from './open.ts'\nimport type { StoreOptions } from './options.ts'\n"
const found = (name: string): string[] => [`src/a.ts:3 "...${name}" passes on every capability of StoreOptions`]

test('finds a parameter, a rest of a parameter, and a member of a class that are spread', () => {
  assert.equal(find(`${head}const a = (options: StoreOptions) => open({ ...options, b: 1 })`), found('options'))
  assert.equal(find(`${head}const a = ({ path, ...rest }: StoreOptions) => open({ a: path, ...rest })`), found('rest'))
  assert.equal(find(`${head}class A { readonly #o: StoreOptions; b() { open({ ...this.#o }) } }`), found('#o'))
})

test('finds a rest of a constant, a type of which members are left out, and an object that is kept', () => {
  const rest = 'function a(options: StoreOptions) { const { path, ...rest } = options; open({ ...rest, path }) }'
  assert.equal(find(head + rest), found('rest'))
  assert.equal(find(`${head}const a = (o: Omit<StoreOptions, 'path'>) => open({ ...o, path: 1 })`), found('o'))
  assert.equal(find(`${head}const a = (options: StoreOptions) => { const b = { ...options } }`), found('options'))
})

test('finds a bag that carries a function, a class, or another bag that carries one', () => {
  const uses = 'import { open } from "./open.ts"\nconst a = (needs: Needs) => open({ ...needs })\n'
  for (const member of ['tell: () => void', 'tell(): void', 'store: Store', 'inner: { readonly store: Store }']) {
    const code = `${uses}class Store {}\ninterface Needs {\n  readonly a: string\n  ${member}\n}\n`
    assert.equal(find(code), ['src/a.ts:2 "...needs" passes on every capability of Needs'], member)
  }
})

test('finds a member of a member, and the result of a function of the file', () => {
  const outer = 'interface Outer {\n  readonly inner: StoreOptions\n}\n'
  const code = `${outer}const a = (o: Outer) => open({ ...o.inner, path: 1 })`
  assert.equal(find(head + code), ['src/a.ts:6 "...inner" passes on every capability of StoreOptions'])
  const made = 'function a() { const b = make(1); open({ ...b }) }\nfunction make(c: number): StoreOptions {}'
  assert.equal(find(head + made), found('b'))
})

test('finds an object without a type that has a capability, in an argument of an imported function', () => {
  const passed = (code: string): string[] => find(`${head}function a({ path, cipher }: Given) { ${code} }\n${given}`)
  const given = 'interface Given {\n  readonly path: string\n  readonly cipher: Cipher\n}\n'
    + "import type { Cipher } from './cipher.ts'\n"
  const finding = ['src/a.ts:3 "...b" passes on "cipher"']
  assert.equal(passed('const b = { path, cipher }; open({ ...b, c: 1 })'), finding)
  assert.equal(passed('const b = (c: string) => { return { path, cipher } }; open({ ...b(path), c: 1 })'), finding)
  assert.equal(passed('const b = { path }; open({ ...b, cipher })'), [])
  assert.equal(passed('const b = { path, cipher }; own({ ...b, c: 1 })'), [])
})

test('passes plain data, lists, bags that are passed whole, and members that are passed by name', () => {
  const data = 'interface ListOptions {\n  readonly limit: number\n  readonly names: readonly string[]\n}\n'
  assert.equal(find(`${head}${data}const a = (options: ListOptions) => open({ ...options, b: 1 })`), [])
  assert.equal(find(`${head}const a = (options: StoreOptions) => open(options, [...options.path])`), [])
  assert.equal(find(`${head}const a = ({ path, cipher }: StoreOptions) => open({ path, cipher })`), [])
})

test('passes a bag that stays inside the file that declares it', () => {
  const own = 'interface WorkOptions {\n  readonly tell: () => void\n}\nfunction* work(options: WorkOptions) {}\n'
  assert.equal(find(`${own}const a = (options: WorkOptions) => work({ ...options, b: 1 })`), [])
  assert.equal(find(`${own}function a(options: WorkOptions) {\n  return { ...options, b: 1 }\n}`), [])
})

test('tells types of one name apart by the file that they are imported from', () => {
  const other = 'export interface StoreOptions {\n  readonly path: string\n}\n'
  const code = head.replace('./options.ts', './other.ts')
  assert.equal(find(`${code}const a = (o: StoreOptions) => open({ ...o })`, { 'src/other.ts': other }), [])
})

test.run()
