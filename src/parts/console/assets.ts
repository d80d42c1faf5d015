/**
 * The files of the page, compressed and kept in memory.
 *
 * Each address contains one digest of all files. So a browser may keep a file for ever, and never mixes the files of
 * two versions. The build puts the files into `dist/console`. There are no files when the page is not built.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { readdir, readFile } from '../../base/read-files.ts'
import { digestOf } from './secret.ts'

export interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer
  readonly brotli: Buffer
}

export interface Assets {
  /** The digest of all files. */
  readonly digest: string
  /** The file `index.html`, in which the addresses of the other files have the digest. */
  readonly page: Asset
  readonly files: ReadonlyMap<string, Asset>
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = fileURLToPath(new URL('../../../console/', import.meta.url))

/** Reads and compresses the files. Returns undefined when the page is not built. */
export async function loadAssets(): Promise<Assets | undefined> {
  const names = (await readdir(folder).catch(() => [])).sort()
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name))))
  const page = contents[names.indexOf('index.html')]
  if (page === undefined) return undefined
  const digest = digestOf(names.map((name, index) => `${name} ${digestOf(contents[index] ?? '')}`).join('\n'))
  const shown = Buffer.from(page.toString('utf8').replaceAll('{digest}', digest))
  const files = await Promise.all(names.filter((name) => name !== 'index.html').map(async (name) => {
    return [name, await compressed(name, contents[names.indexOf(name)] ?? Buffer.alloc(0))] as const
  }))
  return { digest, page: await compressed('index.html', shown), files: new Map(files) }
}

async function compressed(name: string, plain: Buffer): Promise<Asset> {
  const [zipped, smallest] = await Promise.all([
    promisify(gzip)(plain, { level: 9 }),
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  ])
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return { type, plain, gzip: zipped, brotli: smallest }
}
