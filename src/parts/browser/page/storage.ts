/**
 * Run in pages, in the isolated world of a frame: reading and writing the storage of the frame's origin. A frame
 * without storage (a sandboxed one, or one of a data address) says so by an empty origin.
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

/** Adds entries to one of the two storages; says what went wrong, if something did. */
export const writeStorage = String.raw`
function (which, entries) {
  try {
    for (const { name, value } of entries) globalThis[which].setItem(name, value)
    return { problem: '' }
  } catch (error) {
    return { problem: String(error) }
  }
}`
