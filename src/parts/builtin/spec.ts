/** The request and the response of the route that tries a language model. */
import {
  boolean, optional, ref, required, response, string, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  ValidateProfileRequest: tolerant('A language model to try.', { llm: required(ref('LLM')) }),
  ProfileValidation: response('The result of the trial. A rate limit or a time-out does not make a model invalid.', {
    valid: required(boolean),
    error: optional(ref('ProfileValidationError')),
  }),
  ProfileValidationError: response('The reason why the model is invalid.', {
    type: required(string), message: required(string),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Profiles', [
  {
    ...post('/api/profiles/{name}/validate', 'Try a language model', 'ValidateProfileRequest'),
    responses: { 200: responseOf('The result of the trial', ref('ProfileValidation')) },
  },
])
