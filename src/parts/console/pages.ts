/**
 * Sends the console's page and its files, which hold no data of the server. Requests for them need no key.
 *
 * The Content-Security-Policy lets the page load scripts, styles and data from this server only. It refuses inline
 * scripts.
 */
import type { Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { headerValues } from '../../http/headers.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import type { Asset, Assets } from './assets.ts'

const policy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
  "font-src 'self'", "manifest-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ')

const pageHeaders = [
  'Content-Security-Policy', policy, 'Referrer-Policy', 'no-referrer', 'Cross-Origin-Opener-Policy', 'same-origin',
  'Permissions-Policy', 'camera=(), microphone=(), geolocation=()',
]

const unbuilt = Buffer.from(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Agent Server</title>
<h1>The console is not built</h1>
<p>This server runs from its source. Run <code>npm ci --include=dev</code> and <code>npm run build</code> in the folder
of the source, then start the server again. The REST interface works without the console.</p>
</html>
`)

/** Sends the page, or instructions when the page is not built. */
export async function sendPage(assets: Assets | undefined, call: Call): Promise<HttpResponse> {
  if (assets === undefined) {
    return { status: 503, headers: pageHeaders, type: 'text/html; charset=utf-8', body: unbuilt }
  }
  return answer(assets.page, call, [...pageHeaders, 'Cache-Control', 'no-cache'])
}

/** Sends a file of the page. @throws AppError `not_found` for an unknown file or a digest that is not current */
export async function sendAsset(assets: Assets | undefined, call: Call): Promise<HttpResponse> {
  const file = assets?.files.get(parameterOf(call.parameters, 'file'))
  if (file === undefined || parameterOf(call.parameters, 'digest') !== assets?.digest) {
    throw new AppError('not_found', 'Not Found')
  }
  return answer(file, call, ['Cache-Control', 'public, max-age=31536000, immutable'])
}

async function answer(asset: Asset, call: Call, headers: readonly string[]): Promise<HttpResponse> {
  const [coding, body] = await codingFor(asset, headerValues(call.exchange.request.rawHeaders, 'accept-encoding'))
  const coded = coding === undefined ? [] : ['Content-Encoding', coding]
  return { status: 200, headers: [...headers, 'Vary', 'Accept-Encoding', ...coded], type: asset.type, body }
}

/**
 * Returns the content coding and the coded body: brotli if the client accepts it, else gzip, else no coding (RFC 9110,
 * section 12.5.3). Ignores `*`, and each weight except `q=0`, which means not accepted.
 */
async function codingFor(
  asset: Asset, values: readonly string[],
): Promise<[coding: string | undefined, body: Buffer]> {
  const accepted = values.flatMap((value) => value.toLowerCase().split(',')).flatMap((item) => {
    const [name = '', ...parameters] = item.split(';').map((word) => word.trim())
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [name]
  })
  if (accepted.includes('br')) return ['br', await asset.brotli()]
  return accepted.includes('gzip') ? ['gzip', await asset.gzip()] : [undefined, asset.plain]
}
