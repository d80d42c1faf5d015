/** What a client does with conversations: leads one over REST and socket, reads, answers, stops, copies, removes. */
import { client, clients, demoAgent, fails, options, workspace } from './connection.mjs'
import { equal, step, until } from './steps.mjs'

const { host, apiKey } = options
const unknownId = '00000000-0000-4000-8000-000000000000'
const conversations = new clients.ConversationClient(options)
const manager = new client.ConversationManager(options)

/** A conversation as RemoteConversation leads it: started, sent to, run, watched. */
export async function converseOverSockets() {
  const frames = []
  const errors = []
  const conversation = await step('RemoteConversation.start', async () => {
    const place = new client.RemoteWorkspace({ host, workingDir: workspace('first'), apiKey })
    const made = new client.RemoteConversation(demoAgent, place, {
      callback: (frame) => frames.push(frame),
      onError: (error) => errors.push(error),
    })
    await made.start()
    return made
  })
  await step('RemoteConversation.startWebSocketClient: full_state comes first', async () => {
    await conversation.startWebSocketClient()
    await until(() => frames.length > 0, 'a frame')
    equal([frames[0].kind, frames[0].key], ['ConversationStateUpdateEvent', 'full_state'])
  })
  await step('RemoteConversation.state: as the full_state frame gives it', async () => {
    const { state } = conversation
    equal([await state.getExecutionStatus(), (await state.getAgent()).kind], ['idle', 'ACPAgent'])
    equal((await state.getWorkspace()).working_dir, workspace('first'))
    equal((await state.getConfirmationPolicy()).kind, 'NeverConfirm')
    equal(typeof (await state.getPersistenceDir()), 'string')
  })
  await step('RemoteConversation.sendMessage: does not run', async () => {
    await conversation.sendMessage('Show me what you can do.')
    equal((await conversations.getConversation(conversation.id)).execution_status, 'idle')
  })
  await step('RemoteConversation.run: finishes', async () => {
    await conversation.run()
    const isEnd = ({ key, value }) => key === 'execution_status' && value === 'finished'
    await until(() => frames.some(isEnd), 'finished')
  })
  await step('RemoteConversation.state', async () => {
    await conversation.state.refresh()
    equal(await conversation.state.getExecutionStatus(), 'finished')
    equal((await conversation.state.getAgent()).kind, 'ACPAgent')
    equal((await conversation.state.getWorkspace()).working_dir, workspace('first'))
    equal((await conversation.state.getConfirmationPolicy()).kind, 'NeverConfirm')
    equal(typeof (await conversation.state.getPersistenceDir()), 'string')
    equal(await conversation.state.getActivatedKnowledgeSkills(), [])
  })
  await step('RemoteConversation.getAgentFinalResponse', async () => {
    equal((await conversation.getAgentFinalResponse()).length > 0, true)
  })
  await step('RemoteConversation.conversationStats, getHookConfig', async () => {
    equal(typeof (await conversation.conversationStats()).usage_to_metrics, 'object')
    equal(await conversation.getHookConfig(), null)
  })
  await step('RemoteConversation.close: the socket had no error', async () => {
    await conversation.close()
    equal(errors.map(String), [])
  })
  await step('WebSocketCallbackClient: every stored event of the run came, once and in order', async () => {
    // A frame that is only pushed has the lower half of the conversation's id.
    const isStored = ({ id }) => id.slice(19) !== conversation.id.slice(19)
    const { items } = await conversations.searchEvents(conversation.id, { limit: 100 })
    equal(frames.filter(isStored).map(({ id }) => id), items.map(({ id }) => id))
  })
  return conversation.id
}

export async function readHistory(id) {
  const list = new client.RemoteEventsList({ baseUrl: host, apiKey }, id)
  const all = await step('RemoteEventsList.getEvents', async () => {
    const events = await list.getEvents()
    equal(events.some(({ kind }) => kind === 'ActionEvent'), true)
    return events
  })
  await step('ConversationClient.getEventCount', async () => equal(await conversations.getEventCount(id), all.length))
  await step('ConversationClient.searchEvents: pages', async () => {
    const found = []
    for (let pageId; pageId !== null;) {
      const page = await conversations.searchEvents(id, { limit: 3, page_id: pageId })
      found.push(...page.items)
      pageId = page.next_page_id
    }
    equal(found.map((event) => event.id), all.map((event) => event.id))
  })
  await step('ConversationClient.searchEvents: newest first', async () => {
    const { items } = await conversations.searchEvents(id, { limit: 10, sort_order: 'TIMESTAMP_DESC' })
    equal(items.map((event) => event.id), all.toReversed().slice(0, 10).map((event) => event.id))
  })
  await step('ConversationClient.searchEvents: kind, source and text', async () => {
    const query = { kind: 'MessageEvent', source: 'user', body: 'WHAT YOU CAN' }
    const { items } = await conversations.searchEvents(id, query)
    equal(items.map((event) => event.llm_message.content[0].text), ['Show me what you can do.'])
  })
  await step('ConversationClient.searchEvents: from a timestamp', async () => {
    const { items } = await conversations.searchEvents(id, { timestamp__gte: all[2].timestamp })
    equal(items.map((event) => event.id), all.slice(2).map((event) => event.id))
  })
  await step('ConversationClient.getEvent', async () => equal(await conversations.getEvent(id, all[0].id), all[0]))
  await step('ConversationClient.getEvents: null for an unknown one', async () => {
    equal(await conversations.getEvents(id, [all[1].id, 'unknown']), [all[1], null])
  })
  await step('HttpClient.get with a body: events by their ids', async () => {
    const http = new client.HttpClient({ baseUrl: host, apiKey })
    const { data } = await http.get(`/api/conversations/${id}/events`, { data: [all[0].id, 'unknown'] })
    equal(data, [all[0], null])
  })
  for (const [name, other, status] of [['an unknown conversation', unknownId, 404], ['no UUID', 'nonsense', 422]]) {
    await step(`ConversationClient.getEvent: ${name}`, () => {
      return fails(() => conversations.getEvent(other, all[0].id), status)
    })
  }
}

export async function answerQuestions() {
  const { id } = await step('ConversationClient.createConversation: agent_settings', () => {
    return conversations.createConversation({
      agent_settings: { agent_kind: 'acp', acp_server: 'custom', acp_command: demoAgent.acp_command },
      workspace: { kind: 'LocalWorkspace', working_dir: workspace('second') },
      confirmation_policy: { kind: 'AlwaysConfirm' },
      tags: { client: 'check' },
    })
  })
  await step('ConversationClient.sendEvent: runs and waits for the user', async () => {
    await runMessage(id, 'run: echo asked')
    await untilStatus(id, 'waiting_for_confirmation')
  })
  await step('ConversationClient.respondToConfirmation: no', async () => {
    equal(await conversations.respondToConfirmation(id, { accept: false, reason: 'Not now' }), { success: true })
    await until(async () => (await ofKind(id, 'UserRejectObservation')).length === 1, 'a refusal')
    const [refusal] = await ofKind(id, 'UserRejectObservation')
    equal([refusal.rejection_reason, refusal.rejection_source], ['Not now', 'user'])
    await untilStatus(id, 'idle', 'finished')
  })
  await step('ConversationClient.respondToConfirmation: yes', async () => {
    await runMessage(id, 'run: echo allowed')
    await untilStatus(id, 'waiting_for_confirmation')
    equal(await conversations.respondToConfirmation(id, { accept: true }), { success: true })
    await untilStatus(id, 'finished')
    equal((await ofKind(id, 'ObservationEvent')).at(-1).observation.content[0].text.trim(), 'allowed')
  })
  await step('ConversationClient.setConfirmationPolicy', async () => {
    equal(await conversations.setConfirmationPolicy(id, { kind: 'NeverConfirm' }), { success: true })
    equal((await conversations.getConversation(id)).confirmation_policy, { kind: 'NeverConfirm' })
  })
  return id
}

export async function stopRuns() {
  const { id } = await conversations.createConversation({ workspace: { working_dir: workspace('third') } })
  const send = () => runMessage(id, 'run: sleep 300')
  for (const [name, stop] of [['interrupt', 'interruptConversation'], ['pause', 'pauseConversation']]) {
    await step(`ConversationClient.${stop}: ends a running command`, async () => {
      const before = (await ofKind(id, 'ActionEvent')).length
      await send()
      await until(async () => (await ofKind(id, 'ActionEvent')).length > before, 'an action')
      equal(await conversations[stop](id), { success: true })
      await untilStatus(id, 'paused')
      equal((await ofKind(id, 'PauseEvent')).length, before + 1, name)
      equal((await ofKind(id, 'AgentErrorEvent')).length, before + 1, name)
    })
  }
  await step('ConversationClient.runConversation: while it runs', async () => {
    await send()
    await untilStatus(id, 'running')
    await fails(() => conversations.runConversation(id), 409)
    await conversations.interruptConversation(id)
  })
  await step('ConversationClient.interruptConversation: an unknown conversation', () => {
    return fails(() => conversations.interruptConversation(unknownId), 404)
  })
}

export async function changeConversation(id) {
  await step('ConversationClient.updateConversation', async () => {
    equal(await conversations.updateConversation(id, { title: 'A title', tags: { other: 'tag' } }), { success: true })
    const { title, tags } = await conversations.getConversation(id)
    equal([title, tags], ['A title', { other: 'tag' }])
  })
  await step('ConversationClient.setSecurityAnalyzer', async () => {
    equal(await conversations.setSecurityAnalyzer(id, { kind: 'LLMSecurityAnalyzer' }), { success: true })
    equal(await conversations.setSecurityAnalyzer(id, null), { success: true })
  })
  await step('ConversationClient.updateSecrets', async () => {
    const secrets = { A_NAME: 'value-of-a-name', B_NAME: { kind: 'StaticSecret', value: 'value-of-b-name' } }
    equal(await conversations.updateSecrets(id, { secrets }), { success: true })
    const { secret_registry: registry } = await conversations.getConversation(id)
    equal(Object.values(registry.secret_sources).map(({ value }) => value), ['**********', '**********'])
  })
  await step('ConversationClient.switchAcpModel: refused by an agent without models', () => {
    return fails(() => conversations.switchAcpModel(id, 'no-such-model'), 400)
  })
}

export async function listConversations(ids) {
  await step('ConversationClient.getConversations: null for an unknown one', async () => {
    const found = await conversations.getConversations([...ids, unknownId])
    equal(found.map((info) => info?.id ?? null), [...ids, null])
  })
  await step('ConversationClient.searchConversations: pages', async () => {
    const all = (await manager.getAllConversations()).map(({ id }) => id)
    const page = await conversations.searchConversations({ limit: 1, sort_order: 'CREATED_AT_DESC' })
    const next = await conversations.searchConversations({ limit: 1, page_id: page.next_page_id })
    equal([page.items[0].id, next.items[0].id], all.slice(0, 2))
  })
  await step('ConversationClient.countConversations', async () => {
    equal(await conversations.countConversations(), (await manager.getAllConversations()).length)
    equal(await conversations.countConversations({ status: 'running' }), 0)
  })
  await step('ConversationManager.loadConversation', async () => {
    equal((await manager.loadConversation(ids[0])).id, ids[0])
  })
}

export async function branch(id) {
  const messages = await ofKind(id, 'MessageEvent')
  await step('ConversationClient.forkConversation', async () => {
    const fork = await conversations.forkConversation(id, { title: 'A fork', from_event_id: messages[0].id })
    equal([fork.id === id, fork.title, fork.execution_status], [false, 'A fork', 'idle'])
    equal(fork.forked_from_conversation_id, id)
    equal((await ofKind(fork.id, 'MessageEvent')).map((event) => event.id), [messages[0].id])
    await fails(() => conversations.forkConversation(id, { id: fork.id }), 409)
  })
  await step('ConversationClient.navigateConversation', async () => {
    equal((await conversations.navigateConversation(id, { event_id: messages[0].id })).leaf_event_id, messages[0].id)
    equal((await conversations.navigateConversation(id, { event_id: null })).leaf_event_id, null)
    await fails(() => conversations.navigateConversation(id, { event_id: 'unknown' }), 404)
  })
}

export async function removeConversation(id) {
  await step('ConversationClient.deleteConversation', async () => {
    await conversations.deleteConversation(id)
    await fails(() => conversations.getConversation(id), 404)
    await fails(() => conversations.deleteConversation(id), 404)
  })
}

async function runMessage(id, text) {
  await conversations.sendEvent(id, { role: 'user', content: [{ type: 'text', text }] }, { run: true })
}

async function ofKind(id, kind) {
  return (await conversations.searchEvents(id, { kind, limit: 100 })).items
}

async function untilStatus(id, ...statuses) {
  const read = async () => (await conversations.getConversation(id)).execution_status
  await until(async () => statuses.includes(await read()), statuses.join(' or '))
}
