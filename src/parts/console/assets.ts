/**
 * The files of the console's page, kept in memory. The build puts the files into `dist/console`.
 *
 * The address of each file but `index.html` contains a digest of all files, so browsers may cache these files for ever.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { readdir, readFile } from '../../base/read-files.ts'
import { digestOf } from './secret.ts'

/** A file of the page. Each compressed form is made once. */
export class Asset {
  readonly type: string
  readonly plain: Buffer
  #gzip: Promise<Buffer> | undefined
  #brotli: Promise<Buffer> | undefined

  constructor(name: string, plain: Buffer) {
    this.type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    this.plain = plain
  }

  gzip(): Promise<Buffer> {
    return (this.#gzip ??= promisify(gzip)(this.plain, { level: 9 }))
  }

  brotli(): Promise<Buffer> {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    return (this.#brotli ??= promisify(brotliCompress)(this.plain, { params }))
  }
}

export interface Assets {
  /** The digest of all files: a segment of the address of each file in `files`. */
  readonly digest: string
  /** The file `index.html`, with `digest` put into the addresses of the other files. */
  readonly page: Asset
  /** The files except `index.html`, by name. */
  readonly files: ReadonlyMap<string, Asset>
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = fileURLToPath(new URL('../../../console/', import.meta.url))

/** Reads the files. Returns undefined when the page is not built. */
export async function loadAssets(): Promise<Assets | undefined> {
  const names = (await readdir(folder).catch(() => [])).sort() // An unreadable folder counts as empty.
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name))))
  const page = contents[names.indexOf('index.html')]
  if (page === undefined) return undefined
  const digest = digestOf(names.map((name, index) => `${name} ${digestOf(contents[index] ?? '')}`).join('\n'))
  const shown = Buffer.from(page.toString('utf8').replaceAll('{digest}', digest))
  const files = new Map(names.map((name, index) => [name, new Asset(name, contents[index] ?? Buffer.alloc(0))]))
  files.delete('index.html')
  return { digest, page: new Asset('index.html', shown), files }
}
