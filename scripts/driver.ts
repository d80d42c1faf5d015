/**
 * Runs a driver of a published client: a program of plain JavaScript, or of Python, that prints its steps as JSON lines
 * (client/steps.mjs, client/python/steps.py). Prints each step as it comes and counts the failed steps.
 *
 * Drivers are not compiled, since the clients are no dependency of this project and their types are not known here.
 * They stand beside the source of this file, wherever that runs.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memberAt } from './real/member.ts'

export interface Step {
  readonly name: string
  readonly ok: boolean
  readonly seen: string
}

export interface DriverRun {
  /** The path of the driver below scripts/, or an absolute path. */
  readonly driver: string
  /** The program that runs the driver. Default: this Node. */
  readonly interpreter?: string
  readonly args: readonly string[]
  readonly timeoutMs: number
}

/** Gives the number of steps that failed, the driver's own end included. */
export async function drive({ driver, interpreter = process.execPath, args, timeoutMs }: DriverRun): Promise<number> {
  const program = isAbsolute(driver) ? driver : fileURLToPath(new URL(`../../scripts/${driver}`, import.meta.url))
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child = spawn(interpreter, [program, ...args], { stdio, timeout: timeoutMs })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  let failures = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const found: unknown = JSON.parse(line)
    const [name, seen] = [memberAt(found, 'name'), memberAt(found, 'seen')].map(String)
    failures += printStep({ name: name ?? line, ok: memberAt(found, 'ok') === true, seen: seen ?? '' })
  }
  const code = await exited
  return failures + printStep({ name: 'the client reaches the end', ok: code === 0, seen: String(code) })
}

/** Gives 1 for a failure. */
export function printStep({ name, ok, seen }: Step): number {
  process.stdout.write(`  ${ok ? 'ok  ' : 'FAIL'} ${name}${ok ? '' : `\n       ${seen.slice(0, 2_000)}`}\n`)
  return ok ? 0 : 1
}

/** Prints the sum and sets the exit code. */
export function finish(failed: number): void {
  process.stdout.write(failed === 0 ? 'every step held\n' : `${failed} steps failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
