/**
 * Steps of a check that drives a server: each is run, timed out by what it waits for, and printed as one JSON line.
 *
 * A step that fails does not end the program, because the next one may still tell something.
 */
const waitLimitMs = 60_000

/** Runs one step and prints how it went. */
export async function step(name, body) {
  try {
    const value = await body()
    report({ name, ok: true, seen: '' })
    return value
  } catch (error) {
    report({ name, ok: false, seen: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

function report(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Compares as JSON. */
export function equal(seen, expected, what = '') {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(expected)]
  if (left !== right) throw new Error(`${what} got ${left}, expected ${right}`.trim())
}

export async function until(condition, what) {
  const deadline = Date.now() + waitLimitMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${waitLimitMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
