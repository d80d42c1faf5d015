/** Times, durations and amounts as texts for people. Times are in the language of the browser. */

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** Returns a timestamp as a local time, with the date if it is not today. Returns an unreadable timestamp unchanged. */
export function timeText(timestamp: string): string {
  const date = dateOf(timestamp)
  if (Number.isNaN(date.getTime())) return timestamp
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`
}

/** Returns the date of a timestamp. Without an offset the timestamp is in UTC. */
export function dateOf(timestamp: string): Date {
  return new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(timestamp) ? timestamp : `${timestamp}Z`)
}

export function durationText(milliseconds: number): string {
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns a duration without fractions of a second. */
export function secondsText(milliseconds: number): string {
  return milliseconds < 10_000 ? `${Math.ceil(milliseconds / 1000)} s` : durationText(milliseconds)
}

export function countText(count: number): string {
  if (count < 1000) return String(count)
  return count < 999_500 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** Returns an amount of US dollars, with four decimals below one dollar and otherwise two. */
export function moneyText(dollars: number): string {
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`
}

/** Returns a number of bytes as a text, such as `1.5 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const [unit, size] = bytes < 1_000_000 ? ['kB', bytes / 1000] as const : ['MB', bytes / 1_000_000] as const
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`
}
