/**
 * Makes an HTML page of an OpenAPI description: the operations, grouped by tag, then the types.
 *
 * Texts of the description are escaped. A reference (`$ref`) to a type becomes a link within the page.
 */
import { objectOf, textOf } from '../../base/fields.ts'
import { isObject } from '../../base/json.ts'

type Members = Readonly<Record<string, unknown>>

/** An operation. `name` is its method and path; `group` is its first tag, or empty when it has no tag. */
interface Operation {
  readonly name: string
  readonly group: string
  readonly members: Members
}

const schemaPrefix = '#/components/schemas/'

export function pageOf(document: unknown): string {
  const { info, paths, components } = objectOf(document)
  const { title, version } = objectOf(info)
  const name = `${textOf(title) ?? ''} ${textOf(version) ?? ''}`
  const operations = operationsIn(objectOf(paths))
  const groups = [...new Set(operations.map(({ group }) => group))]
  const schemas = Object.entries(objectOf(objectOf(components)['schemas']))
  return [
    '<!DOCTYPE html>', '<html lang="en">', '<meta charset="utf-8">', '<meta name="color-scheme" content="light dark">',
    `<title>${escape(name)}</title>`, `<h1>${escape(name)}</h1>`,
    '<p>Every request but the open ones has a session key in the header <code>X-Session-API-Key</code>. ',
    'For programs: <a href="openapi.json">openapi.json</a>.</p>',
    ...groups.flatMap((group) => {
      return [`<h2>${escape(group)}</h2>`, ...operations.filter((one) => one.group === group).map(operationBlock)]
    }),
    '<h2>Types</h2>',
    ...schemas.map(([type, schema]) => typeBlock(type, schema)),
    '</html>', '',
  ].join('\n')
}

function operationsIn(paths: Members): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    return Object.entries(objectOf(item)).map(([method, operation]) => {
      const members = objectOf(operation)
      const [group] = Array.isArray(members['tags']) ? members['tags'] : []
      return { name: `${method.toUpperCase()} ${path}`, group: textOf(group) ?? '', members }
    })
  })
}

function operationBlock({ name, members }: Operation): string {
  const { summary, parameters, requestBody, responses } = members
  const rows = [
    ...(Array.isArray(parameters) ? parameters : []).map(parameterRow),
    ...contentRows('body', 'body', requestBody),
    ...Object.entries(objectOf(responses)).flatMap(([status, response]) => {
      return contentRows(status, textOf(objectOf(response)['description']) ?? '', response)
    }),
  ]
  const head = `<summary><code>${escape(name)}</code> ${escape(textOf(summary))}</summary>`
  return `<details>${head}<table border="1">${rows.join('')}</table></details>`
}

function parameterRow(parameter: unknown): string {
  const { name, in: place, required, schema } = objectOf(parameter)
  const need = required === true ? ', required' : ''
  return row(textOf(name), `${textOf(place) ?? ''}${need}`, schemaText(schema))
}

/** Returns a table row for each media type of a body; one row for a body without media types; none without a body. */
function contentRows(name: string, about: string, holder: unknown): string[] {
  if (holder === undefined) return []
  const types = Object.entries(objectOf(objectOf(holder)['content']))
  if (types.length === 0) return [row(name, about, '')]
  return types.map(([type, content]) => row(name, `${about} (${type})`, schemaText(objectOf(content)['schema'])))
}

function row(name: string | undefined, about: string, type: string): string {
  return `<tr><td><code>${escape(name)}</code></td><td>${escape(about)}</td><td>${type}</td></tr>`
}

function typeBlock(name: string, schema: unknown): string {
  return `<details id="${escape(name)}"><summary><code>${escape(name)}</code> ` +
    `${escape(textOf(objectOf(schema)['description']))}</summary><pre>${schemaText(schema)}</pre></details>`
}

/** Returns a schema as JSON in HTML, with links in place of references; empty without a schema. */
function schemaText(schema: unknown): string {
  if (schema === undefined) return ''
  const reference = isObject(schema) ? schema['$ref'] : undefined
  if (typeof reference === 'string') return linkTo(reference)
  const json = JSON.stringify(schema, undefined, 2)
  const quoted = /&quot;(#\/components\/schemas\/[\w.-]+)&quot;/g
  return escape(json).replaceAll(quoted, (_, target: string) => linkTo(target))
}

function linkTo(reference: string): string {
  const name = reference.startsWith(schemaPrefix) ? reference.slice(schemaPrefix.length) : reference
  return `<a href="#${escape(encodeURIComponent(name))}">${escape(name)}</a>`
}

function escape(text = ''): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
