/**
 * Scripts for pages that read and write the storage of a frame's origin. They run in the isolated world of a frame.
 *
 * A sandboxed frame, or a frame of a data URL, has no storage: reading returns an empty origin, and writing a
 * `problem`.
 */

export const readStorage = String.raw`
function (limitChars) {
  let left = limitChars
  try {
    const found = { localStorage: entries(localStorage), sessionStorage: entries(sessionStorage) }
    return { origin: origin === 'null' ? '' : origin, ...found, isComplete: left > 0 }
  } catch {
    return { origin: '', localStorage: [], sessionStorage: [], isComplete: true }
  }

  function entries(storage) {
    const list = []
    for (const name of Object.keys(storage)) {
      const value = storage.getItem(name) || ''
      left -= name.length + value.length
      if (left <= 0) return list
      list.push({ name, value })
    }
    return list
  }
}`

/**
 * Sets entries in `localStorage` or `sessionStorage`. Returns the first error as the text `problem`, which is empty
 * when all entries were set.
 */
export const writeStorage = String.raw`
function (which, entries) {
  try {
    for (const { name, value } of entries) globalThis[which].setItem(name, value)
    return { problem: '' }
  } catch (error) {
    return { problem: String(error) }
  }
}`
