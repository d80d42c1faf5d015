/** The request and the response of a trial of a language model. */
import {
  boolean, optional, ref, required, response, string, tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  ValidateProfileRequest: tolerant('A language model to try.', { llm: required(ref('LLM')) }),
  ProfileValidation: response('Whether it answers. A rate limit or a time-out is no error.', {
    valid: required(boolean),
    error: optional(ref('ProfileValidationError')),
  }),
  ProfileValidationError: response('Why it does not.', { type: required(string), message: required(string) }),
}

export const endpoints: readonly Endpoint[] = inGroup('Profiles', [
  {
    ...post('/api/profiles/{name}/validate', 'Try a language model', 'ValidateProfileRequest'),
    responses: { 200: responseOf('Whether it answers', ref('ProfileValidation')) },
  },
])
