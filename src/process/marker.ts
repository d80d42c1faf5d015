/**
 * The marker of a child process: the value of one environment variable that its descendants inherit.
 *
 * The form is `<instance id of the data folder>/<id of the child>`. A later server on the same data folder finds
 * the process by its marker.
 */
export const markerVariable = 'AGENT_SERVER_CHILD'

export function isMarker(text: string): boolean {
  return /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+$/.test(text)
}

export function isInstanceId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}
