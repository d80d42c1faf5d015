/** The memory by which the thread of `PatternRunner` answers: how many answers there were, and the last answer. */

/** The count is in the first four bytes, and the time begins at byte 8. */
export const answerBytes = 24

export function countIn(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, 1)
}

/** The milliseconds of the last attempt, and 1 for a match that was not stopped. */
export function timeIn(memory: SharedArrayBuffer): Float64Array {
  return new Float64Array(memory, 8, 2)
}
