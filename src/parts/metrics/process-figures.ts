/** Metrics of the process, the data folder's disk and the build. Prometheus recommends the names `process_...`. */
import { statfs } from '../../base/read-files.ts'
import { version } from '../../version.ts'
import { counter, gauge, type Family } from './exposition.ts'
import { one } from './load-figures.ts'

export function processFamilies(startedAt: number): Family[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge('agent_server_build_info', 'Always 1; the labels name the version of the server and of Node.', [
      { labels: { version, node: process.versions.node }, value: 1 },
    ]),
    one(gauge, 'process_start_time_seconds', 'Start of the server, in seconds since the epoch.', startedAt / 1000),
    one(counter, 'process_cpu_seconds_total', 'Time on processors, of user and system.', (user + system) / 1e6),
    one(gauge, 'process_resident_memory_bytes', 'Resident memory.', rss),
    one(gauge, 'nodejs_heap_size_used_bytes', 'Used part of the heap of JavaScript.', heapUsed),
    one(gauge, 'nodejs_heap_size_total_bytes', 'Size of the heap of JavaScript.', heapTotal),
    one(gauge, 'nodejs_external_memory_bytes', 'Memory of buffers and other objects outside the heap.', external),
  ]
}

export async function diskFamilies(folder: string): Promise<Family[]> {
  const space = await statfs(folder).catch(() => undefined) // After an error, the gauges have no samples.
  const sampled = (value: number | undefined) => (value === undefined ? [] : [{ value }])
  return [
    gauge('agent_server_disk_free_bytes', "Space on the data folder's disk that the server may use.",
      sampled(space && space.bavail * space.bsize)),
    gauge('agent_server_disk_size_bytes', "Size of the data folder's disk.",
      sampled(space && space.blocks * space.bsize)),
    gauge('agent_server_disk_free_files', "Files that can still be made on the data folder's disk.",
      sampled(space?.ffree)),
  ]
}
