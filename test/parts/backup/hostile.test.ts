/** Archives and manifests that are made to harm: each is refused, and nothing outside of the folder is written. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { parseManifest } from '../../../src/parts/backup/manifest.ts'
import { tarHeader } from '../../../src/parts/backup/tar.ts'
import { inFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { inPieces, refusal, restoreTo } from './commands.ts'

const test = suite('parts/backup: hostile')

const digestOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')
const format = `${JSON.stringify({ format: 1, instance: '0123456789abcdef' })}\n`
const header = { backup: 1, made: '2027-01-01T00:00:00.000Z', keys: true, seals: [] }

function fileLine(path: string, content = 'content', more: object = {}): object {
  const pieces = [[digestOf(content), Buffer.byteLength(content)]]
  return { path, size: Buffer.byteLength(content), pieces, ...more }
}

const formatLine = fileLine('format.json', format)

/** A manifest with these lines and a right last line, unless `end` changes it. */
function manifest(lines: readonly unknown[], end: object = {}): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  const files = lines.filter((line) => typeof line === 'object' && line !== null && 'path' in line).length
  const sha256 = digestOf(texts.map((text) => `${text}\n`).join(''))
  return [...texts, JSON.stringify({ files, sha256, ...end })].map((text) => `${text}\n`).join('')
}

function entry(name: string, content: string | Buffer, change: (block: Buffer) => void = () => undefined): Buffer {
  const bytes = Buffer.from(content)
  const block = tarHeader(name, bytes.length)
  change(block)
  return Buffer.concat([block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

/** Writes the checksum of a header that was changed. */
function seal(block: Buffer): void {
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
}

const end = Buffer.alloc(1024)
const pieces = [entry('files/1', format), entry('files/2', 'content')]
const sound = manifest([header, formatLine, fileLine('settings.json')])
const whole = Buffer.concat([...pieces, entry('manifest.jsonl', sound), end])

function ofType(type: string, target = ''): Buffer {
  return entry('files/1', '', (block) => {
    block.write(type, 156, 'latin1')
    block.write(target, 157, 'latin1')
    seal(block)
  })
}

function withSize(size: string | Buffer): Buffer {
  return entry('files/1', 'content', (block) => {
    block.fill(0, 124, 136)
    Buffer.from(size).copy(block, 124)
    seal(block)
  })
}

const archives: Readonly<Record<string, readonly [bytes: Buffer, message: string]>> = {
  'nothing at all': [Buffer.alloc(0), 'it is cut off'],
  'no archive': [Buffer.alloc(2048, 'x'), 'it is no tar archive'],
  'a compressed archive': [gzipSync(whole), 'expected gunzip -c FILE'],
  'a name that leads out': [Buffer.concat([entry('../../evil', 'x'), end]), 'the entry "../../evil"'],
  'a name that leads out of files': [Buffer.concat([entry('files/../../evil', 'x'), end]), 'which no backup has'],
  'an absolute name': [Buffer.concat([entry('/tmp/evil-of-a-backup', 'x'), end]), 'which no backup has'],
  'a name with a control character': [Buffer.concat([entry('files/\x1b[2J', 'x'), end]), 'the entry "files/?[2J"'],
  'a name with a prefix': [
    Buffer.concat([entry('files/1', 'x', (block) => {
      block.write('../..', 345, 'latin1')
      seal(block)
    }), end]), 'which no backup has',
  ],
  'a symbolic link': [Buffer.concat([ofType('2', '/etc/passwd'), end]), 'which no backup has'],
  'a hard link': [Buffer.concat([ofType('1', '/etc/passwd'), end]), 'which no backup has'],
  'a device': [Buffer.concat([ofType('3'), end]), 'which no backup has'],
  'a pipe': [Buffer.concat([ofType('6'), end]), 'which no backup has'],
  'an extended header': [Buffer.concat([ofType('x'), end]), 'which no backup has'],
  'a sparse file': [Buffer.concat([ofType('S'), end]), 'which no backup has'],
  'a folder with content': [
    Buffer.concat([entry('files/', 'content', (block) => {
      block.write('5', 156, 'latin1')
      seal(block)
    }), end]), 'which no backup has',
  ],
  'a size that is no number': [Buffer.concat([withSize('zzzzzzzzzzz\0'), end]), 'which no backup has'],
  'a size in base 256': [
    Buffer.concat([withSize(Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])), end]), 'which no backup has',
  ],
  'a size of 8 GiB that is not there': [Buffer.concat([withSize('77777777777\0'), end]), 'it is cut off'],
  'a damaged header': [Buffer.concat([entry('files/1', 'x', (block) => void block.write('y')), end]), 'is damaged'],
  'no manifest': [Buffer.concat([...pieces, end]), 'the archive has no manifest'],
  'two manifests': [
    Buffer.concat([entry('manifest.jsonl', sound), entry('manifest.jsonl', sound), end]), 'has two manifests',
  ],
  'bytes after the end': [Buffer.concat([whole, Buffer.from('more')]), 'bytes follow the end'],
  'a piece that is missing': [
    Buffer.concat([entry('files/1', format), entry('manifest.jsonl', sound), end]), 'a piece of it is missing',
  ],
  'a piece with other content': [
    Buffer.concat([entry('files/1', format), entry('files/2', 'CONTENT'), entry('manifest.jsonl', sound), end]),
    '"settings.json" is damaged',
  ],
}

/** Restores in a folder of its own. Returns the error, after a look at everything around the folder. */
async function refusedIn(folder: string, bytes: Buffer, dry: boolean): Promise<string> {
  const to = join(folder, 'below', 'to')
  mkdirSync(dirname(to), { recursive: true })
  const flags: Record<string, string> = dry ? { 'dry-run': 'true' } : {}
  const said = await refusal(restoreTo('-', to, { input: inPieces(bytes), flags }))
  assert.equal(readdirSync(folder), ['below'])
  assert.equal(readdirSync(dirname(to)), existsSync(to) ? ['to'] : [])
  assert.not.ok(existsSync(join(to, 'format.json')))
  if (dry) assert.not.ok(existsSync(to))
  return said
}

test('the archive that the others are variations of is restored', () => inFolder(async (folder) => {
  assert.is((await restoreTo('-', join(folder, 'to'), { input: inPieces(whole) })).code, 0)
  assert.equal(readdirSync(join(folder, 'to')).sort(), ['format.json', 'lock', 'settings.json'])
}))

for (const [name, [bytes, message]] of Object.entries(archives)) {
  test(`refuses ${name}`, () => inFolder(async (folder) => {
    for (const dry of [true, false]) {
      const said = await refusedIn(folder, bytes, dry)
      assert.match(said, message)
      assert.match(said, 'storage_failed: Cannot use the backup: ')
    }
  }))
}

test('refuses an archive that is cut off at any place', () => inFolder(async (folder) => {
  for (let length = 0; length < whole.length - 1024; length += 97) {
    assert.match(await refusedIn(folder, whole.subarray(0, length), true), 'storage_failed: Cannot use the backup: ')
  }
}))

const shown = (path: string): string => JSON.stringify(path.slice(0, 40))
const badPaths = [
  '../evil', '/etc/evil', 'a/../../evil', 'a//b', 'a/./b', '.', '', 'a/', 'a\0b', 'x'.repeat(5000), 'lock',
  'owner.json', 'restoring.json', 'restoring/1', 'runtime/x', 'temporary/x', 'list.json', 'agents/codex.json',
]

const manifests: Readonly<Record<string, readonly [text: string, message: string]>> = {
  ...Object.fromEntries(badPaths.flatMap((path) => [
    [`the file ${shown(path)}`, [manifest([header, formatLine, fileLine(path)]), 'has the path']],
    [`the folder ${shown(path)}`, [manifest([header, formatLine, { folder: path }]), 'has the path']],
  ])),
  'a path that is no text': [manifest([header, formatLine, { ...formatLine, path: 7 }]), 'has the path ""'],
  'a path twice': [manifest([header, formatLine, formatLine]), 'has "format.json" twice'],
  'a file that is a folder': [manifest([header, formatLine, fileLine('a'), { folder: 'a' }]), 'has "a" twice'],
  'a changed line': [sound.replace('settings', 'secrets'), 'is cut off or was changed'],
  'a missing last line': [sound.split('\n').slice(0, -2).join('\n') + '\n', 'is cut off or was changed'],
  'another number of files': [manifest([header, formatLine], { files: 7 }), 'another number of files'],
  'no lines': ['\n', 'a line of its manifest is no JSON'],
  'no JSON': ['{\n{\n', 'a line of its manifest is no JSON'],
  'deep JSON': [`${'['.repeat(100_000)}\n`, 'a line of its manifest is no JSON'],
  'no header': [manifest([formatLine]), 'it does not begin like a manifest'],
  'sizes that differ': [manifest([header, fileLine('format.json', format, { size: 1 })]), 'another size than it'],
  'a size below zero': [
    manifest([header, fileLine('format.json', format, { pieces: [[digestOf(''), -1]] })]), 'a size that is no number',
  ],
  'a digest that is a path': [
    manifest([header, fileLine('format.json', format, { pieces: [['../../etc/passwd', 5]] })]), 'a digest of no form',
  ],
  'no format.json': [manifest([header, fileLine('settings.json')]), 'it has no "format.json"'],
}

for (const [name, [text, message]] of Object.entries(manifests)) {
  test(`refuses a manifest with ${name}`, () => inFolder(async (folder) => {
    const bytes = Buffer.concat([...pieces, entry('manifest.jsonl', text), end])
    // A backup that reading alone refuses is refused in a dry run too.
    const said = await refusedIn(folder, bytes, !/evil|restoring|format/.test(name))
    assert.match(said, message)
    assert.match(said, 'storage_failed: Cannot use the backup: ')
  }))
}

test('refuses backups of a newer version, and of a data folder of another format', () => inFolder(async (folder) => {
  const newer = manifest([{ ...header, backup: 2 }, formatLine])
  const said = await refusedIn(folder, Buffer.concat([...pieces, entry('manifest.jsonl', newer), end]), false)
  assert.match(said, 'format_unsupported: ')
  const other = '{"format":2,"instance":"0123456789abcdef"}\n'
  const text = manifest([header, fileLine('format.json', other)])
  const bytes = Buffer.concat([entry('files/1', other), entry('manifest.jsonl', text), end])
  assert.match(await refusedIn(folder, bytes, false), 'format_unsupported: ')
}))

test('a piece that many files have does not fill the disk', () => inFolder(async (folder) => {
  const large = Buffer.alloc(16 * 1024 * 1024)
  const piece = [digestOf(large), large.length]
  const list = Array.from({ length: 100 }, () => piece)
  const lines = Array.from({ length: 2000 }, (_, at) => ({
    path: `f${at}`, size: large.length * list.length, pieces: list,
  }))
  const text = manifest([header, formatLine, ...lines])
  const bytes = Buffer.concat([...pieces, entry('files/3', large), entry('manifest.jsonl', text), end])
  assert.match(await refusedIn(folder, bytes, false), /^storage_full: .*bytes are needed/)
}))

test('a file in the place of a folder is an error, and the folder stays without format.json', () => inFolder(
  async (folder) => {
    const text = manifest([header, formatLine, fileLine('a'), fileLine('a/b')])
    const bytes = Buffer.concat([...pieces, entry('manifest.jsonl', text), end])
    assert.match(await refusedIn(folder, bytes, false), 'storage_failed: Cannot restore')
  },
))

test('a link in a folder with a backup is not followed', () => inFolder(async (folder) => {
  const backup = join(folder, 'backup')
  mkdirSync(join(backup, 'files'), { recursive: true })
  writeFileSync(join(backup, 'manifest.jsonl'), sound)
  writeFileSync(join(folder, 'secret'), 'content')
  writeFileSync(join(backup, 'files', digestOf(format)), format)
  symlinkSync(join(folder, 'secret'), join(backup, 'files', digestOf('content')))
  assert.match(await refusal(restoreTo(backup, join(folder, 'to'))), '"settings.json" is damaged: it cannot be read')
}))

test('a manifest of a hundred thousand files is parsed in time', () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => fileLine(`conversations/${at}/events.jsonl`))
  assert.is(parseManifest(manifest([header, ...lines]).trimEnd().split('\n')).files.size, 100_000)
})

test.run()
