// @ts-check
/**
 * Does the main job with the types that openapi-typescript has generated (`api.d.ts` beside this file) and with
 * openapi-fetch: create, send, run, read. It is checked by tsc in strict mode first, and then run.
 *
 * Arguments: the server's address, the key, a folder for the workspace, the address of a stand-in for a model.
 */
import createClient from 'openapi-fetch'

const waitLimitMs = 60_000
const [baseUrl = '', key = '', folder = '', modelUrl = ''] = process.argv.slice(2)
/** @type {ReturnType<typeof createClient<import('./api.d.ts').paths>>} */
const client = createClient({ baseUrl, headers: { 'X-Session-API-Key': key } })

const llm = { model: 'openai/stand-in', api_key: 'a-key-of-a-model', base_url: `${modelUrl}/v1` }
const created = await client.POST('/api/conversations', {
  body: { workspace: { working_dir: folder }, agent: { kind: 'Agent', llm, tools: [{ name: 'terminal' }] } },
})
if (created.data === undefined) throw new Error(JSON.stringify(created.error))
const params = { path: { conversation_id: created.data.id } }
done('a conversation is created')

const sent = await client.POST('/api/conversations/{conversation_id}/events', {
  params, body: { content: [{ type: 'text', text: 'Run a command.' }], run: true },
})
if (sent.data?.success !== true) throw new Error(JSON.stringify(sent.error))
done('a message is sent, and the agent runs')

const deadline = Date.now() + waitLimitMs
for (let status = ''; status !== 'finished';) {
  const { data } = await client.GET('/api/conversations/{conversation_id}', { params })
  status = data?.execution_status ?? ''
  if (status === 'error' || Date.now() > deadline) throw new Error(`The conversation is ${status}`)
  await new Promise((resolve) => setTimeout(resolve, 50))
}
done('the run ends')

const page = await client.GET('/api/conversations/{conversation_id}/events/search', {
  params: { ...params, query: { limit: 100 } },
})
const tools = (page.data?.items ?? []).flatMap((event) => event.kind === 'ActionEvent' ? [event.tool_name] : [])
if (tools.join() !== 'terminal,finish') throw new Error(JSON.stringify(page.data))
const final = await client.GET('/api/conversations/{conversation_id}/agent_final_response', { params })
if (final.data?.response !== 'Done with it.') throw new Error(JSON.stringify(final.data))
done('events are read')

const gone = await client.DELETE('/api/conversations/{conversation_id}', { params })
if (gone.data?.success !== true) throw new Error(JSON.stringify(gone.error))
done('the conversation is deleted')

/** @param {string} name */
function done(name) {
  process.stdout.write(`${JSON.stringify({ name, ok: true, seen: '' })}\n`)
}
