/** Archives, sound and hostile: the contents of real tools' files, and why each broken one is refused. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { suite } from '../../support/suite.ts'
import { filesIn, paxHeader, tarBlocks, tarEnd, tarOf, zipOf, type TarEntry, type ZipEntry } from './archives.ts'

const test = suite('parts/extensions/archive')

const longName = `${'folder-with-a-long-name/'.repeat(6)}${'é'.repeat(60)}.txt`
const tree: Readonly<Record<string, string>> = {
  'SKILL.md': '---\nname: x\n---\nText.',
  'empty.txt': '',
  'scripts/run.sh': '#!/bin/sh\necho hello\n',
  'big.bin': Array.from({ length: 200_000 }, (_, at) => String.fromCharCode((at * 7 + (at >> 8)) & 0xff)).join(''),
  [longName]: 'long',
}
const expected = Object.fromEntries(Object.entries(tree).sort())

function withTree(body: (folder: string, out: (name: string) => string) => Promise<void>): () => Promise<void> {
  return async () => {
    const top = mkdtempSync(join(tmpdir(), 'archives-'))
    try {
      const folder = join(top, 'tree')
      for (const [path, text] of Object.entries(tree)) {
        mkdirSync(join(folder, path, '..'), { recursive: true })
        writeFileSync(join(folder, path), text, 'latin1')
      }
      chmodSync(join(folder, 'scripts/run.sh'), 0o755)
      await body(folder, (name) => join(top, name))
    } finally {
      rmSync(top, { recursive: true, force: true })
    }
  }
}

const sorted = (files: Readonly<Record<string, string>>): object => Object.fromEntries(Object.entries(files).sort())
const run = (command: string, args: readonly string[], cwd: string): Buffer => execFileSync(command, args, { cwd })

for (const [title, args] of [
  ['tar', ['-c']], ['tar in the format gnu', ['-c', '--format=gnu']], ['tar in the format pax', ['-c', '--format=pax']],
  ['tar.gz', ['-cz', '--format=posix']],
] as const) {
  test(`reads what GNU tar writes: ${title}`, withTree(async (folder, out) => {
    run('tar', [...args, '-f', out('a'), '.'], folder)
    assert.equal(sorted(await filesIn(readFileSync(out('a')))), expected)
  }))
}

const zips: readonly (readonly [string, readonly string[]])[] = [
  ['zip', ['-r', '-q']], ['zip, stored', ['-r', '-q', '-0']], ['zip without folders', ['-r', '-q', '-D']],
]
for (const [title, args] of zips) {
  test(`reads what Info-ZIP writes: ${title}`, withTree(async (folder, out) => {
    run('zip', [...args, out('a.zip'), '.'], folder)
    assert.equal(sorted(await filesIn(readFileSync(out('a.zip')))), expected)
  }))
}

test('reads a zip with data descriptors, as zip writes it to a pipe', withTree(async (folder, out) => {
  writeFileSync(out('a.zip'), execFileSync('sh', ['-c', 'zip -r -q - . | cat'], { cwd: folder, maxBuffer: 1e8 }))
  assert.equal(sorted(await filesIn(readFileSync(out('a.zip')))), expected)
}))

test('reads what Python writes: zip and the three formats of tar', withTree(async (folder, out) => {
  run('python3', ['-m', 'zipfile', '-c', out('a.zip'), '.'], folder)
  const files = await filesIn(readFileSync(out('a.zip')))
  assert.equal(sorted(files), expected)
  for (const format of ['USTAR_FORMAT', 'GNU_FORMAT', 'PAX_FORMAT']) {
    const file = JSON.stringify(out('a.tar'))
    const program = `import tarfile\nt = tarfile.open(${file}, "w", format=tarfile.${format})\n` +
      'for n in ["SKILL.md", "empty.txt", "scripts", "big.bin"]: t.add(n)\nt.close()'
    run('python3', ['-c', program], folder)
    const { [longName]: _, ...rest } = expected
    assert.equal(sorted(await filesIn(readFileSync(out('a.tar')))), rest, format)
  }
}))

test('reads what git archive writes: tar, tar.gz and zip', withTree(async (folder, out) => {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  const git = (...args: readonly string[]): Buffer => run('git', [...author, ...args], folder)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
  for (const format of ['tar', 'tar.gz', 'zip']) {
    git('archive', `--format=${format}`, '-o', out('a'), 'HEAD')
    assert.equal(sorted(await filesIn(readFileSync(out('a')))), expected, format)
  }
}))

test('leaves out a link that stays inside, of tar and of zip', withTree(async (folder, out) => {
  symlinkSync('SKILL.md', join(folder, 'inside'))
  run('tar', ['-cf', out('a.tar'), '.'], folder)
  run('zip', ['-r', '-q', '-y', out('a.zip'), '.'], folder)
  for (const name of ['a.tar', 'a.zip']) assert.equal(sorted(await filesIn(readFileSync(out(name)))), expected, name)
}))

async function reasonOf(archive: Buffer): Promise<string> {
  try {
    await filesIn(archive)
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'bad_request') return thrown.message
    throw thrown
  }
  return 'read'
}

const badNames: readonly (readonly [string, RegExp])[] = [
  ['../x', /"\.\."/], ['a/../../x', /"\.\."/], ['a/..', /"\.\."/], ['/etc/passwd', /absolute/], ['C:/x', /absolute/],
  ['c:x', /absolute/], ['a\\b', /backslash/], ['..\\x', /backslash/], ['a\nb', /control/], ['a\x7fb', /control/],
  [`${'d/'.repeat(33)}x`, /deeper/], ['.', /top folder/], ['./', /folder|top/],
]
test('refuses names that lead elsewhere or mean two things, in both formats', async () => {
  for (const [name, reason] of badNames) {
    if (name !== './') {
      assert.match(await reasonOf(tarOf({ name, content: 'x' })), reason, `tar ${JSON.stringify(name)}`)
      assert.match(await reasonOf(zipOf([{ name, content: 'x' }])), reason, `zip ${JSON.stringify(name)}`)
    }
  }
  assert.match(await reasonOf(zipOf([{ name: 'a\0b', content: 'x' }])), /control/)
  assert.match(await reasonOf(zipOf([{ name: '', content: 'x' }])), /empty/)
  assert.match(await reasonOf(tarOf({ name: '', content: 'x' })), /empty/)
  assert.match(await reasonOf(tarOf(paxHeader('path=a\0b'), { name: 'x' })), /malformed/)
  assert.match(await reasonOf(tarOf(paxHeader(`path=${'p'.repeat(1025)}`), { name: 'x' })), /longer/)
  assert.match(await reasonOf(tarOf(paxHeader(`path=${'p'.repeat(256)}`), { name: 'x' })), /too long/)
})

const twice: readonly (readonly [string, string])[] = [
  ['a', 'a'], ['a', 'A'], ['a/b', 'a/B'], ['a/b', 'A/c'], ['a', 'a/b'], ['a/b', 'a'], ['é', 'e\u0301'], ['./a', 'a'],
  ['a//b', 'a/b'],
]
test('refuses two entries for one path, also in another case or form', async () => {
  for (const [one, other] of twice) {
    const reason = /twice|through a file|differs/
    const entries = [{ name: one, content: '1' }, { name: other, content: '2' }]
    assert.match(await reasonOf(tarOf(...entries)), reason, `${one} ${other}`)
    assert.match(await reasonOf(zipOf(entries)), reason, `${one} ${other}`)
  }
  const folder = { name: 'a/', type: '5' }
  assert.is(await reasonOf(tarOf(folder, folder, { name: 'a/b' })), 'read')
})

test('refuses links that lead out, and a path through a link', async () => {
  for (const target of ['/etc', '..', '../x', 'a/../../x', 'C:\\x', '..\\x', '']) {
    assert.match(await reasonOf(tarOf({ name: 'l', type: '2', target })), /link/, target)
    assert.match(await reasonOf(zipOf([{ name: 'l', content: target, mode: 0o120777 }])), /link/, target)
  }
  assert.match(await reasonOf(tarOf({ name: 'd/l', type: '2', target: '../..' })), /leads out/)
  assert.match(await reasonOf(tarOf({ name: 'l', type: '2', target: 'd' }, { name: 'l/x' })), /through a file/)
  assert.match(await reasonOf(tarOf({ name: 'l', type: '2', target: 'd' }, { name: 'l' })), /twice/)
  assert.is(await reasonOf(tarOf({ name: 'd/l', type: '2', target: '../x' })), 'read')
})

test('refuses a link with a long target before it reads the target, also if the size lies', async () => {
  const zeros = Buffer.alloc(40 * 1024 * 1024)
  const link = { name: 'l', mode: 0o120777 }
  assert.match(await reasonOf(zipOf([{ ...link, content: zeros }])), /a name in it is longer than 1024 bytes/)
  assert.match(await reasonOf(zipOf([{ ...link, content: zeros, size: 1024 }])), /longer than it says/)
  assert.match(await reasonOf(zipOf([{ ...link, content: 'x'.repeat(1025), crc: 1 }])), /longer than 1024 bytes/)
  assert.is(await reasonOf(zipOf([{ ...link, content: 'x'.repeat(1024) }])), 'read')
  assert.match(await reasonOf(tarOf({ ...link, type: '2', content: zeros })), /no file has a content/)
  const longTarget = [paxHeader(`linkpath=${'x'.repeat(1025)}`), { ...link, type: '2' }]
  assert.match(await reasonOf(tarOf(...longTarget)), /longer than 1024 bytes/)
})

test('refuses hard links, devices, pipes, sparse files and unknown types', async () => {
  for (const [type, reason] of [
    ['1', /hard link/], ['3', /device/], ['4', /device/], ['6', /pipe/], ['S', /sparse/], ['V', /unknown/],
    ['D', /unknown/],
  ] as const) assert.match(await reasonOf(tarOf({ name: 'x', type, target: 'y' })), reason, type)
  for (const mode of [0o020644, 0o060644, 0o010644, 0o140644]) {
    assert.match(await reasonOf(zipOf([{ name: 'x', mode }])), /device/, String(mode))
  }
  assert.match(await reasonOf(tarOf(paxHeader('GNU.sparse.major=1'), { name: 'x' })), /sparse/)
})

const longNameHeader = (name: string): TarEntry => ({ name: 'L', type: 'L', content: `${name}\0` })
const longPax = { name: 'p', type: 'x', content: 'x'.repeat(70_000) }

const brokenTars: readonly (readonly [string, Buffer, RegExp])[] = [
  ['a checksum', tarOf({ name: 'x', checksum: '000000\0 ' }), /checksum/],
  ['a size that is no number', tarOf({ name: 'x', size: '0000000008\0' }), /malformed/],
  ['a negative size', tarOf({ name: 'x', size: '\xff'.repeat(12) }), /too large/],
  ['a huge size', tarOf({ name: 'x', size: '77777777777\0' }), /cut off/],
  ['a folder with a content', tarOf({ name: 'x/', type: '5', content: 'x' }), /content/],
  ['no end', tarBlocks({ name: 'x', content: 'x' }), /no end/],
  ['an end that is cut off', Buffer.concat([tarBlocks({ name: 'x' }), Buffer.alloc(100)]), /cut off/],
  ['bytes behind its end', Buffer.concat([tarOf({ name: 'x' }), tarBlocks({ name: 'y' })]), /follow/],
  ['a header that is cut off', tarOf({ name: 'x' }).subarray(0, 400), /cut off/],
  ['a size above its own limit', tarOf(paxHeader('size=99999999999999999'), { name: 'x' }), /malformed/],
  ['two paths', tarOf(paxHeader('path=a', 'path=b'), { name: 'x' }), /twice/],
  ['two extended headers', tarOf(paxHeader('path=a'), paxHeader('path=b'), { name: 'x' }), /two extended/],
  ['two long names', tarOf(longNameHeader('a'), longNameHeader('b'), { name: 'x' }), /two ext/],
  ['a name of both kinds', tarOf(paxHeader('path=a'), longNameHeader('b'), { name: 'x' }), /two names/],
  ['a header for all', tarOf({ ...paxHeader('path=a'), type: 'g' }, { name: 'x' }), /several/],
  ['an extended header at its end', tarOf({ name: 'x' }, paxHeader('path=a')), /ends with/],
  ['a record without its length', tarOf({ name: 'p', type: 'x', content: 'path=a\n' }, { name: 'x' }), /malformed/],
  ['a record that is too long', tarOf({ name: 'p', type: 'x', content: '99 path=a\n' }, { name: 'x' }), /malformed/],
  ['a long extended header', tarOf(longPax, { name: 'x' }), /more than 65536/],
  ['a name that is not UTF-8', tarOf(paxHeader('path=a'), { name: 'x' }).fill(0xff, 512 + 7, 512 + 8), /UTF-8/],
]
test('refuses a broken tar archive, with its reason', async () => {
  // git makes such an archive of an empty commit. Its reader finds no files.
  assert.is(await reasonOf(tarOf({ ...paxHeader('comment=a'), type: 'g' })), 'read')
  for (const [title, archive, reason] of brokenTars) assert.match(await reasonOf(archive), reason, title)
})

const encrypted = { name: 'x', content: 'x', flags: 0x801 }
const sound = zipOf([{ name: 'x', content: 'content' }, { name: 'y', content: 'z', method: 0 }])
const plain = zipOf([{ name: 'xx', flags: 0 }]).toString('latin1')
const notUtf8 = Buffer.from(plain.replaceAll('xx', '\xff\xfe'), 'latin1')
const brokenZips: readonly (readonly [string, Buffer, RegExp])[] = [
  ['encryption', zipOf([encrypted]), /encrypted/],
  ['strong encryption', zipOf([{ name: 'x', flags: 0x841 }]), /encrypted/],
  ['a patch', zipOf([{ name: 'x', flags: 0x820 }]), /patch/],
  ['another method', zipOf([{ name: 'x', method: 14 }]), /method 14/],
  ['a wrong CRC', zipOf([{ name: 'x', content: 'x', crc: 1 }]), /checksum/],
  ['a wrong CRC of nothing', zipOf([{ name: 'x', method: 0, crc: 1 }]), /checksum/],
  ['a size that is too small', zipOf([{ name: 'x', content: 'xyz', size: 1 }]), /longer/],
  ['a size that is too large', zipOf([{ name: 'x', content: 'xyz', size: 9 }]), /shorter/],
  ['a packed size beyond its end', zipOf([{ name: 'x', content: 'xyz', packed: 900 }]), /overlap/],
  ['a packed size that is too small', zipOf([{ name: 'x', content: 'xyz', packed: 2 }]), /between/],
  ['two sizes of stored bytes', zipOf([{ name: 'x', content: 'xyz', method: 0, size: 2 }]), /two sizes/],
  ['bytes behind its data', zipOf([{ name: 'x', content: 'xyz', packed: 7, after: Buffer.alloc(2) }]), /ends before/],
  ['no deflated data', zipOf([{ name: 'x', content: Buffer.alloc(0), method: 0, size: 3, packed: 0 }]), /sizes|short/],
  ['ZIP64', zipOf([{ name: 'x', size: 0xffffffff }]), /ZIP64/],
  ['ZIP64 in its end', zipOf([{ name: 'x' }], { offset: 0xffffffff }), /ZIP64/],
  ['several disks', zipOf([{ name: 'x' }], { disk: 1 }), /disks/],
  ['more records than it has', zipOf([{ name: 'x' }], { count: 2 }), /directory/],
  ['fewer records than it has', zipOf([{ name: 'x' }, { name: 'y' }], { count: 1 }), /malformed/],
  ['its directory elsewhere', zipOf([{ name: 'x' }], { offset: 3 }), /not where/],
  ['another name in its header', zipOf([{ name: 'x', localName: 'y' }]), /differs/],
  ['a header elsewhere', zipOf([{ name: 'x', offset: 7 }]), /overlap/],
  ['bytes between its entries', zipOf([{ name: 'x' }, { name: 'y', before: Buffer.alloc(5) }]), /between/],
  ['bytes in front', zipOf([{ name: 'y', before: Buffer.from('PK\x03\x04-') }]), /lie between/],
  ['two entries of one data', zipOf([{ name: 'x', content: 'c' }, { name: 'y', content: 'c', offset: 0 }]), /overlap/],
  ['no descriptor', zipOf([{ name: 'x', content: 'c', flags: 0x808 }]), /no data descriptor/],
  ['a wrong descriptor', zipOf([{ name: 'x', content: 'c', flags: 0x808, after: Buffer.alloc(16) }]), /descriptor/],
  ['two end records', zipOf([{ name: 'x' }], { comment: zipOf([]) }), /two end/],
  ['no end record', sound.subarray(0, -1), /no end record/],
  ['a cut', sound.subarray(0, 60), /no end record/],
  ['a folder by its name only', zipOf([{ name: 'x/', mode: 0o100644 }]), /by its name/],
  ['a folder by its mode only', zipOf([{ name: 'x', mode: 0o040755 }]), /by its name/],
  ['a folder with a content', zipOf([{ name: 'x/', content: 'x', mode: 0o040755 }]), /content/],
  ['a second name', zipOf([{ name: 'x', extra: Buffer.from('\x75\x70\x08\0\x01....abc', 'latin1') }]), /two names/],
  ['a name that is not UTF-8', notUtf8, /UTF-8/],
]
test('refuses a broken zip archive, with its reason', async () => {
  assert.equal(await filesIn(sound), { x: 'content', y: 'z' })
  for (const [title, archive, reason] of brokenZips) assert.match(await reasonOf(archive), reason, title)
})

test('refuses bombs by their ratio, their sizes and their number of entries', async () => {
  const zeros = Buffer.alloc(40 * 1024 * 1024)
  assert.match(await reasonOf(zipOf([{ name: 'x', content: zeros }])), /unpacks to more than/)
  assert.match(await reasonOf(gzipSync(tarOf({ name: 'x', content: zeros }))), /unpacks to more than/)
  assert.match(await reasonOf(gzipSync(Buffer.concat([tarOf({ name: 'x' }), zeros]))), /unpacks to more than/)
  assert.match(await reasonOf(gzipSync(gzipSync(zeros))), /expected|end|checksum|cut/)
  const many = Array.from({ length: 10_001 }, (_, at): TarEntry & ZipEntry => ({ name: `f${at}`, method: 0 } as const))
  assert.match(await reasonOf(tarOf(...many.map(({ name }) => ({ name })))), /more than 10000 entries/)
  assert.match(await reasonOf(zipOf(many)), /at most 10000/)
  const deep = Array.from({ length: 400 }, (_, at) => ({ name: `${at}/${'d/'.repeat(30)}x` }))
  assert.match(await reasonOf(tarOf(...deep)), /more than 10000 entries/)
  const headers = Array.from({ length: 40_001 }, () => tarBlocks({ name: 'g', type: 'g' }))
  assert.match(await reasonOf(gzipSync(Buffer.concat([...headers, tarEnd]))), /headers|unpacks/)
})

test('refuses damaged compression and other files', async () => {
  const packed = gzipSync(tarOf({ name: 'x', content: Buffer.alloc(5000, 'abc') }))
  assert.match(await reasonOf(packed.subarray(0, packed.length - 20)), /decompressed/)
  const wrong = Buffer.from(packed)
  wrong[packed.length - 6] = (wrong[packed.length - 6] ?? 0) ^ 0xff
  assert.match(await reasonOf(wrong), /decompressed/)
  for (const other of ['', 'PK', 'hello', 'x'.repeat(2000), '\x1f\x8b']) {
    assert.match(await reasonOf(Buffer.from(other, 'latin1')), /expected a zip|decompressed|no end/, other.slice(0, 10))
  }
})

test.run()
