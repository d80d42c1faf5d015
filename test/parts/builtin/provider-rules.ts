/**
 * The faults for which providers refuse a request, as far as a history can cause them. Each function returns the faults
 * of a body.
 *
 * Rules: platform.claude.com/docs ("Messages", "Tool use"), platform.openai.com/docs/api-reference (chat, responses),
 * ai.google.dev/gemini-api/docs ("Function calling"). Servers that are compatible with them are as strict as the
 * strictest.
 */
import { isObject } from '../../../src/base/json.ts'
import { listAt, member } from '../../support/rest.ts'

type Part = Readonly<Record<string, unknown>>

export function anthropicProblems(body: unknown): string[] {
  const messages = objects(listAt(body, 'messages'))
  const problems = alternationProblems(messages.map(({ role }) => String(role)), 'assistant')
  const ids: unknown[] = []
  for (const [place, message] of messages.entries()) {
    const blocks = objects(listAt(message, 'content'))
    if (blocks.length === 0) problems.push(`message ${place} is empty`)
    if (blocks.some(({ type, text }) => type === 'text' && String(text).trim() === '')) {
      problems.push(`blank text in ${place}`)
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    for (const { id, name, input } of calls) {
      ids.push(id)
      if (!/^[\w-]{1,64}$/.test(String(name)) || !/^[\w-]+$/.test(String(id))) {
        problems.push(`name or id ${String(name)} ${String(id)}`)
      }
      if (!isObject(input)) problems.push('input is no object')
    }
    const next = objects(member(messages[place + 1], 'content')).slice(0, calls.length)
    if (!isSame(calls.map(({ id }) => id), next.map(({ tool_use_id }) => tool_use_id))) {
      problems.push(`results of ${place}`)
    }
    const results = blocks.filter(({ type }) => type === 'tool_result').length
    const before = objects(member(messages[place - 1], 'content')).filter(({ type }) => type === 'tool_use').length
    if (results !== before) problems.push(`${results} results for ${before} calls at ${place}`)
  }
  return [...problems, ...doubles(ids)]
}

export function geminiProblems(body: unknown): string[] {
  const contents = objects(listAt(body, 'contents'))
  const problems = alternationProblems(contents.map(({ role }) => String(role)), 'model')
  for (const [place, content] of contents.entries()) {
    const parts = objects(listAt(content, 'parts'))
    if (parts.length === 0) problems.push(`content ${place} is empty`)
    const calls = parts.flatMap(({ functionCall }) => functionCall === undefined ? [] : [functionCall])
    const next = objects(member(contents[place + 1], 'parts')).flatMap(({ functionResponse }) => {
      return functionResponse === undefined ? [] : [functionResponse]
    })
    for (const name of ['id', 'name']) {
      if (!isSame(calls.map((call) => member(call, name)), next.map((result) => member(result, name)))) {
        problems.push(`${name}s of ${place}`)
      }
    }
  }
  return problems
}

export function chatProblems(body: unknown): string[] {
  const messages = objects(listAt(body, 'messages')).filter(({ role }) => role !== 'system')
  const problems = messages.at(-1)?.['role'] === 'assistant' ? ['the last word is the model\'s'] : []
  const ids: unknown[] = []
  for (const [place, message] of messages.entries()) {
    const calls = objects(message['tool_calls'])
    if (message['role'] === 'assistant' && calls.length === 0 && String(message['content'] ?? '').trim() === '') {
      problems.push(`answer ${place} says nothing`)
    }
    for (const call of calls) {
      ids.push(call['id'])
      if (!/^[\w-]{1,64}$/.test(String(member(call, 'function', 'name')))) problems.push(`name of ${place}`)
      problems.push(...argumentProblems(member(call, 'function', 'arguments')))
    }
    const next = messages.slice(place + 1, place + 1 + calls.length)
    if (!isSame(calls.map(({ id }) => id), next.map(({ tool_call_id }) => tool_call_id))) {
      problems.push(`results of ${place}`)
    }
  }
  if (messages.filter(({ role }) => role === 'tool').length !== ids.length) problems.push('results without a call')
  return [...problems, ...doubles(ids)]
}

export function responsesProblems(body: unknown): string[] {
  const items = objects(listAt(body, 'input'))
  const problems: string[] = []
  const calls = items.filter(({ type }) => type === 'function_call')
  for (const call of calls) problems.push(...argumentProblems(call['arguments']))
  const results = items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)
  if (!isSame(calls.map(({ call_id }) => call_id), results)) problems.push('calls and results differ')
  for (const [place, { type }] of items.entries()) {
    const next = items[place + 1]
    const isFollowed = next?.['type'] === 'function_call' ||
      next?.['type'] === 'reasoning' ||
      next?.['role'] === 'assistant'
    if (type === 'reasoning' && !isFollowed) problems.push(`reasoning ${place} stands alone`)
  }
  const last = items.at(-1)
  if (last?.['role'] === 'assistant' || last?.['type'] === 'function_call') {
    problems.push('the last word is the model\'s')
  }
  return [...problems, ...doubles(results)]
}

/** The user begins and ends, and the two take turns. */
function alternationProblems(roles: readonly string[], model: string): string[] {
  const expected = roles.map((_, place) => place % 2 === 0 ? 'user' : model)
  const problems = isSame(roles, expected) ? [] : [`roles ${roles.join()}`]
  return roles.at(-1) === 'user' ? problems : [...problems, `the last role is ${String(roles.at(-1))}`]
}

function argumentProblems(text: unknown): string[] {
  try {
    return isObject(JSON.parse(String(text))) ? [] : ['arguments are no object']
  } catch {
    return ['arguments are no JSON']
  }
}

function doubles(ids: readonly unknown[]): string[] {
  return new Set(ids).size === ids.length ? [] : [`ids ${ids.join()}`]
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, place) => value === other[place])
}

function objects(value: unknown): Part[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
