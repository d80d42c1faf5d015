/**
 * The marker of a child process: the value of one environment variable that all its descendants inherit.
 *
 * It is `<instance id of the data folder>/<id of the child>`. So a server can find the processes that an earlier server
 * on the same data folder left.
 */
export const markerVariable = 'AGENT_SERVER_CHILD'

export function isMarker(text: string): boolean {
  return /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+$/.test(text)
}

export function isInstanceId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}
