/**
 * The marker of a child: the value of one environment variable that all its descendants inherit.
 *
 * It reads `<instance id of the data folder>/<id of the child>`, so a server can find the processes that an earlier
 * server on the same data folder left. Both parts also become part of a cgroup's name, so they have few kinds of
 * characters.
 */
export const markerVariable = 'AGENT_SERVER_CHILD'

export function isMarker(text: string): boolean {
  return /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+$/.test(text)
}

export function isInstanceId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}
