/**
 * Writes `scripts/deploy/nginx-shards.conf` for servers and ports of a driver, as a whole configuration of nginx.
 * TLS is left out.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface ShardsNginx {
  /** For the configuration, the logs and the files of nginx. */
  readonly folder: string
  readonly port: number
  /** The name of the `server` block. */
  readonly name: string
  /** The address or name with the port of each server, by its shard. */
  readonly servers: ReadonlyMap<string, string>
  /** The address with the port of the DNS server for names in `servers`. Absent: `servers` has addresses. */
  readonly resolver?: string
  /** The servers of both `upstream` blocks. Default: the servers of `servers`. */
  readonly creators?: readonly string[]
}

/** Returns the path of the configuration. */
export async function writeShardsNginx(options: ShardsNginx): Promise<string> {
  const { folder, port, name, servers, resolver, creators = [...servers.values()] } = options
  const given = await readFile(new URL('../../../scripts/deploy/nginx-shards.conf', import.meta.url), 'utf8')
  const lines = [...servers].map(([shard, place]) => `  ${shard} ${place};`).join('\n')
  const upstream = creators.map((place) => `  server ${place};`).join('\n')
  const conf = given
    .replace(/^# resolver .*/m, resolver === undefined ? '$&' : `resolver ${resolver} valid=1s;`)
    .replace(/ {2}0a .*\n {2}0b .*/, lines)
    .replaceAll(/ {2}server 127.0.0.1:8010;\n {2}server 127.0.0.1:8011;/g, upstream)
    .replace(/^upstream (\w+) \{/gm, resolver === undefined ? '$&' : '$& zone $1 64k;')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/ {2}listen \[::\].*\n/, '')
    .replace('agents.example.org', name)
    .replace('/var/log/nginx', folder)
    .replace(/ {2}ssl_.*\n/g, '')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n')
  const main = join(folder, 'nginx.conf')
  const head = `pid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\nevents { worker_connections 4096; }`
  await writeFile(main, `${head}\nhttp {\n${temporary}\n${conf}\n}\n`)
  return main
}
