/** Requests and responses of OpenAI's Chat Completions API. */
import {
  arrayOf, boolean, constant, defaultTo, integer, json, nullable, openObject, optional, ref, required, response, string,
  stringOf, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  ChatMessage: tolerant('A message.', {
    role: required(stringOf({ maxLength: 64 })),
    content: optional(json, 'A text, or a list of parts of the types `text` and `image_url`.'),
  }),
  ChatStreamOptions: tolerant('Options of a streamed answer.', { include_usage: defaultTo(false, boolean) }),
  ChatCompletionRequest: tolerant('The last user message is served; system and developer messages go to a new agent.', {
    model: required(stringOf({ minLength: 1, maxLength: 256 })),
    messages: required(arrayOf(ref('ChatMessage'), { minItems: 1, maxItems: 10_000 })),
    stream: defaultTo(false, boolean),
    stream_options: optional(ref('ChatStreamOptions')),
  }),
  ChatCompletion: response('A whole answer.', {
    id: required(string),
    object: required(constant('chat.completion')),
    created: required(integer, 'Seconds since the epoch.'),
    model: required(string),
    choices: required(arrayOf(openObject)),
    usage: required(openObject),
  }),
  ChatModel: response('A model that a request can name.', {
    id: required(string),
    object: required(constant('model')),
    created: required(integer),
    owned_by: required(string),
  }),
  ChatModelList: response('The models.', {
    object: required(constant('list')),
    data: required(arrayOf(ref('ChatModel'))),
  }),
  ChatErrorBody: response('The error.', {
    message: required(string),
    type: required(string),
    param: required(nullable(string)),
    code: required(nullable(string)),
  }),
  ChatError: response("An error in OpenAI's form.", { error: required(ref('ChatErrorBody')) }),
}

const error = 'ChatError'
const failed = (doc: string) => responseOf(doc, ref(error))

export const endpoints: readonly Endpoint[] = inGroup('OpenAI', [
  { ...get('/v1/models', 'List models for chat completions', ref('ChatModelList')), error },
  {
    error,
    ...get('/v1/models/{model_id}', 'Get a model for chat completions', ref('ChatModel')),
  },
  {
    error,
    ...post('/v1/chat/completions', 'Serve a message in a conversation', 'ChatCompletionRequest'),
    responses: {
      200: responseOf('The answer; with `stream` a stream of server-sent events', ref('ChatCompletion')),
      400: failed('The request is not valid'),
      404: failed('There is no such model or conversation'),
      409: failed('The conversation is at work, or waits for the user'),
      500: failed('The run failed'),
      504: failed('The run did not end in time, and was interrupted'),
    },
  },
])
