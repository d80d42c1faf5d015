/** A data folder for one test, gone afterwards, and the ways to look at the files there. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretForms } from '../../src/base/masking-forms.ts'

export async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  try {
    await body(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The permission bits of a file or folder, as `0600`. */
export async function modeOf(path: string): Promise<string> {
  return `0${((await stat(path)).mode & 0o777).toString(8)}`
}

export function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8')
}

/** Whether a secret shows in a text in any form. */
export function shows(text: string, secret: string): boolean {
  return secretForms(secret).some((form) => text.includes(form))
}
