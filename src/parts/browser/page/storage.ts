/**
 * Scripts that read and write the storage of a frame's origin. They run in a page, in the isolated world of the frame.
 *
 * For a frame without storage, such as a sandboxed frame, `readStorage` returns an empty `origin`.
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
 * Sets entries in the storage `which`: `localStorage` or `sessionStorage`. Stops at the first entry that is refused.
 */
export const writeStorage = String.raw`
function (which, entries) {
  try {
    for (const { name, value } of entries) globalThis[which].setItem(name, value)
    return { isDone: true }
  } catch {
    return { isDone: false }
  }
}`
