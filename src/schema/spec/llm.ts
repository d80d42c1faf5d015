/**
 * The settings of one language model (contract/settings.md, section 3.2).
 *
 * Responses include members that are null. Unknown members of requests are ignored.
 */
import {
  address, alias, boolean, defaultTo, integer, mapOf, nullable, number, oneOf, openObject, orNull, required, secret,
  string, stringOf, tolerant, unread, type Definitions,
} from './define.ts'

/** The default of `llm.model` in the stored settings. */
export const storedModel = 'gpt-5.5'

export const llm: Definitions = {
  ProfileName: alias('The name of a profile.', stringOf({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' })),

  LLM: tolerant('A language model and how to call it.', {
    // No default: the model gets the whole conversation, so the client must choose it.
    model: required(stringOf({ minLength: 1 })),
    api_key: secret(orNull(string)),
    provider_connection_id: orNull(string),
    auth_type: defaultTo('api_key', oneOf('api_key', 'subscription')),
    subscription_vendor: orNull(oneOf('openai')),
    base_url: address(orNull(string)),
    api_version: unread(orNull(string)),
    aws_access_key_id: unread(secret(orNull(string))),
    aws_secret_access_key: unread(secret(orNull(string))),
    aws_session_token: unread(secret(orNull(string))),
    aws_region_name: unread(orNull(string)),
    aws_profile_name: unread(orNull(string)),
    aws_role_name: unread(orNull(string)),
    aws_session_name: unread(orNull(string)),
    aws_bedrock_runtime_endpoint: unread(address(orNull(string))),
    openrouter_site_url: defaultTo('', string),
    openrouter_app_name: defaultTo('', string),
    num_retries: defaultTo(5, integer),
    retry_multiplier: defaultTo(8, number),
    retry_min_wait: defaultTo(8, integer, 'Seconds.'),
    retry_max_wait: defaultTo(64, integer, 'Seconds.'),
    timeout: defaultTo(300, nullable(integer), 'Seconds.'),
    max_message_chars: unread(defaultTo(30_000, integer)),
    temperature: orNull(number),
    top_p: orNull(number),
    top_k: orNull(number),
    max_input_tokens: orNull(integer),
    max_output_tokens: orNull(integer),
    model_canonical_name: orNull(string),
    api_mode: defaultTo('auto', oneOf('auto', 'chat', 'responses')),
    capability_overrides: unread(defaultTo({}, openObject)),
    extra_headers: secret(orNull(mapOf(string))),
    input_cost_per_token: orNull(number),
    output_cost_per_token: orNull(number),
    ollama_base_url: address(orNull(string)),
    stream: defaultTo(false, boolean),
    drop_params: defaultTo(true, boolean),
    modify_params: unread(defaultTo(true, boolean)),
    disable_vision: orNull(boolean),
    disable_stop_word: unread(defaultTo(false, nullable(boolean))),
    caching_prompt: defaultTo(true, boolean),
    log_completions: defaultTo(false, boolean),
    log_completions_folder: unread(defaultTo('completions', string)),
    custom_tokenizer: unread(orNull(string)),
    native_tool_calling: unread(defaultTo(true, boolean)),
    force_string_serializer: unread(orNull(boolean)),
    inline_image_urls: unread(orNull(boolean)),
    reasoning_effort: defaultTo('high', nullable(string)),
    reasoning_summary: orNull(oneOf('auto', 'concise', 'detailed')),
    enable_encrypted_reasoning: defaultTo(true, boolean),
    prompt_cache_retention: defaultTo('24h', nullable(string)),
    extended_thinking_budget: defaultTo(200_000, nullable(integer)),
    seed: orNull(integer),
    usage_id: defaultTo('default', string),
    litellm_extra_body: defaultTo({}, openObject),
  }),
}
