/**
 * Canaries: values that look like secrets, one for each place where a secret can enter, and the search for them.
 *
 * The middle of each is letters and digits, so that it is the same in raw, URL-encoded and JSON-escaped text, and has
 * one form in base64, standard or URL-safe, for each of its three places; the text around it is different in every
 * form, so that code which hides only the plain value shows the middle. A hit names the canary and never shows it.
 */
import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface Canaries {
  /** The canary of this place; made when it is asked for the first time. */
  of(place: string): string
  /** `where: place` of every canary that shows in a text, in any form. */
  hitsIn(where: string, text: string | Buffer): string[]
  readonly places: readonly string[]
}

const beginning = 'Canary'
/** One of these is in every form: most texts need no other search. */
const beginnings = formsOf(beginning)

export function createCanaries(): Canaries {
  const cores = new Map<string, string>()
  return {
    of(place) {
      const core = cores.get(place) ?? `${beginning}${randomBytes(12).toString('hex')}`
      cores.set(place, core)
      return `"a/+${core}\\b&=c`
    },
    hitsIn(where, text) {
      const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text)
      if (!beginnings.some((form) => bytes.includes(form))) return []
      return [...cores].filter(([, core]) => formsOf(core).some((form) => bytes.includes(form))).map(([place]) => {
        return `${where}: ${place}`
      })
    },
    get places() {
      return [...cores.keys()]
    },
  }
}

/** As it is, and in base64 behind 0, 1 and 2 other bytes, without the characters that hold bits of its neighbours. */
function formsOf(core: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.from('\0'.repeat(before) + core).toString('base64')
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + core.length) * 8) / 6))
  })
  return [core, ...encoded]
}

/**
 * Returns every hit in the names and the bytes of all files below a folder, without the files whose path begins with an
 * entry of `except`. Of a link the name is searched.
 */
export function hitsInFiles(canaries: Canaries, folder: string, except: readonly string[]): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
    return !except.some((start) => path.startsWith(start))
  })
  return paths.flatMap((path) => {
    const names = canaries.hitsIn(`the name ${relative(folder, path)}`, path)
    const file = join(folder, path)
    return lstatSync(file).isFile() ? [...names, ...canaries.hitsIn(`the file ${path}`, readFileSync(file))] : names
  })
}

/** Every hit in the title or the arguments of any process, except of this one. */
export function hitsInProcesses(canaries: Canaries): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
  return pids.flatMap((pid) => ['cmdline', 'comm'].flatMap((file) => {
    const bytes = readIfThere(`/proc/${pid}/${file}`)
    return canaries.hitsIn(`${file} of a process`, bytes)
  }))
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
