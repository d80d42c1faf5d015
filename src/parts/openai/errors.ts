/** Makes error responses in the form of OpenAI's API. Invalid input gets the status 400 instead of 422. */
import type { ErrorForm } from '../../http/reply.ts'

export const errorForm: ErrorForm = (status, message, code) => {
  const shown = status === 422 ? 400 : status
  const error = { message, type: typeOf(shown), param: null, code: code ?? codes[shown] ?? null }
  return { status: shown, body: { error } }
}

const codes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key', 404: 'not_found', 409: 'conflict', 504: 'timeout',
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 404) return 'not_found_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}
