/**
 * A conversation with the built-in agent as RemoteConversation and ConversationManager lead it: model, questions beside
 * the work, summary, goal, copies. Its model is a stand-in, whose script is in client-check.ts.
 */
import { client, clients, demoAgent, fails, modelUrl, options, workspace } from './connection.mjs'
import { equal, step, until } from './steps.mjs'

const { host, apiKey } = options
const conversations = new clients.ConversationClient(options)
const manager = new client.ConversationManager(options)
const llm = (model) => ({ model: `openai/${model}`, api_key: 'key-of-a-model-0123', base_url: `${modelUrl}/v1` })
const agent = { kind: 'Agent', llm: llm('stand-in'), tools: [{ name: 'terminal' }] }

export async function leadBuiltIn() {
  const conversation = await step('ConversationManager.createConversation: the built-in agent', async () => {
    return manager.createConversation(agent, { workingDir: workspace('built-in'), maxIterations: 20 })
  })
  const { id } = conversation
  const status = async () => (await conversations.getConversation(id)).execution_status
  const run = async (text) => {
    await conversation.sendMessage(text)
    await conversation.run()
    await until(async () => ['finished', 'waiting_for_confirmation'].includes(await status()), 'the end of the run')
  }
  await step('RemoteConversation.run: a command of the built-in agent', async () => {
    await run('Run a command.')
    equal(await conversation.getAgentFinalResponse(), 'Done with it.')
  })
  await step('RemoteConversation.sendConfirmationResponse, setConfirmationPolicy', async () => {
    await conversation.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    await run('Ask first.')
    equal(await status(), 'waiting_for_confirmation')
    await conversation.sendConfirmationResponse(true)
    await until(async () => (await status()) === 'finished', 'the end of the approved run')
    await conversation.setConfirmationPolicy({ kind: 'NeverConfirm' })
  })
  await step('RemoteConversation.switchLlm, ConversationClient.switchLLM', async () => {
    await conversation.switchLlm(llm('second'))
    equal((await conversations.getConversation(id)).agent.llm.model, 'openai/second')
    await conversations.switchLLM(id, llm('third'))
    equal((await conversations.getConversation(id)).agent.llm.model, 'openai/third')
  })
  await step('RemoteConversation.askAgent, ConversationClient.askAgent', async () => {
    const messages = () => conversations.getEventCount(id, { kind: 'MessageEvent' })
    const before = await messages()
    equal(await conversation.askAgent('What did you do?'), 'I ran a command.')
    equal((await conversations.askAgent(id, 'What did you do?')).response, 'I ran a command.')
    equal(await messages(), before)
  })
  await pursueGoals(conversation, status)
  await step('RemoteConversation.condense, ConversationClient.condenseConversation', async () => {
    await conversation.condense()
    equal((await conversations.condenseConversation(id)).success, true)
  })
  await step('RemoteConversation.setTitle, pause, updateSecrets, setSecurityAnalyzer', async () => {
    await conversation.setTitle('Built in')
    await conversation.pause()
    await conversation.updateSecrets({ A_SECRET: 'value-of-a-secret', B_SECRET: () => 'value-of-another' })
    await conversation.setSecurityAnalyzer({ kind: 'LLMSecurityAnalyzer' })
    const { title, security_analyzer: analyzer } = await conversations.getConversation(id)
    equal([title, analyzer.kind], ['Built in', 'LLMSecurityAnalyzer'])
  })
  await step('RemoteConversation.fork, downloadTrajectory, loadHooks', async () => {
    const copy = await conversation.fork({ title: 'A copy' })
    equal([copy.id === id, (await copy.state.getAgent()).kind], [false, 'Agent'])
    equal(Buffer.from(await (await conversation.downloadTrajectory()).arrayBuffer()).toString('latin1', 0, 2), 'PK')
    equal(await conversation.loadHooks(), null)
    await manager.deleteConversation(copy.id)
  })
  await readEvents(conversation)
  await step('RemoteConversation.switchProfile, switchAcpModel: refused', async () => {
    await fails(() => conversation.switchProfile('none'), 404)
    await fails(() => conversation.switchAcpModel('a-model'), 400)
  })
  await step('ConversationManager.updateConversation, deleteConversation, close', async () => {
    equal((await manager.updateConversation(id, { title: 'Another' })).success, true)
    await conversation.close()
    await manager.deleteConversation(id)
    await fails(() => manager.getConversation(id), 404)
  })
}

async function pursueGoals(conversation, status) {
  const goal = async () => {
    const { items } = await conversations.searchEvents(conversation.id, { sort_order: 'TIMESTAMP_DESC', limit: 100 })
    return items.find(({ key }) => key === 'goal')?.value
  }
  const stopped = async () => {
    await conversations.interruptConversation(conversation.id)
    await until(async () => (await status()) !== 'running', 'the end of the run')
  }
  await step('RemoteConversation.startGoal: the judge is content', async () => {
    await conversation.startGoal('Run a command.', 3)
    await until(async () => (await goal())?.active === false, 'the end of the goal')
    const { status: end, iteration, verdict } = await goal()
    equal([end, iteration, verdict.complete], ['complete', 1, true])
    await until(async () => (await status()) === 'finished', 'the end of the run')
  })
  const goalSteps = 'RemoteConversation.stopGoal, resumeGoal; ConversationClient.startGoal, stopGoal, resumeGoal'
  await step(goalSteps, async () => {
    equal((await conversations.startGoal(conversation.id, { objective: 'Write for long.' })).success, true)
    await conversation.stopGoal()
    await until(async () => (await goal()).status === 'interrupted', 'the interruption')
    await stopped()
    await conversation.resumeGoal()
    await until(async () => (await goal()).active, 'the goal that goes on')
    equal((await conversations.stopGoal(conversation.id)).success, true)
    await stopped()
    await fails(() => conversations.startGoal(conversation.id, { objective: '' }), 400)
    equal((await conversations.resumeGoal(conversation.id)).success, true)
    await conversations.stopGoal(conversation.id)
    await stopped()
  })
}

async function readEvents(conversation) {
  const { state } = conversation
  await step('RemoteState.modelDump, modelDumpJson, events', async () => {
    const { id } = await state.modelDump()
    equal([id, JSON.parse(await state.modelDumpJson()).id], [conversation.id, conversation.id])
    equal((await state.events.getEvents()).length > 0, true)
  })
  await step('RemoteEventsList.search, count, getEventById, getEventsById', async () => {
    const list = new client.RemoteEventsList({ baseUrl: host, apiKey }, conversation.id)
    const { items } = await list.search({ kind: 'ActionEvent', limit: 1 })
    equal([items.length, await list.count() > 1, await list.count({ kind: 'nothing' })], [1, true, 0])
    equal(await list.getEventById(items[0].id), items[0])
    equal(await list.getEventsById(['none', items[0].id]), [null, items[0]])
  })
  await step('RemoteConversation.navigateTo', async () => {
    const { items } = await conversations.searchEvents(conversation.id, { kind: 'MessageEvent', limit: 1 })
    await conversation.navigateTo(items[0].id)
    equal((await conversations.getConversation(conversation.id)).leaf_event_id, items[0].id)
  })
}

export async function leadExternal() {
  const made = await step('ConversationManager.createACPConversation', () => {
    return manager.createACPConversation(demoAgent, { workingDir: workspace('acp'), initialMessage: 'run: echo hello' })
  })
  await step('ConversationManager.getACPConversation: the message runs', async () => {
    const status = async () => (await manager.getACPConversation(made.id)).execution_status
    await until(async () => (await status()) === 'finished', 'the end of the run')
  })
  await step('ConversationManager.searchACPConversations, countACPConversations, getACPConversations', async () => {
    equal((await manager.searchACPConversations({ limit: 1 })).items[0].id, made.id)
    equal(await manager.countACPConversations(), (await manager.getAllACPConversations()).length)
    equal((await manager.getACPConversations([made.id])).map(({ id }) => id), [made.id])
    equal((await manager.acp.getConversation(made.id)).agent.kind, 'ACPAgent')
  })
  await step('ConversationManager: lists', async () => {
    equal((await manager.searchConversations({ limit: 1 })).items[0].id, made.id)
    equal(await manager.countConversations(), (await manager.getAllConversations()).length)
    equal((await manager.getConversations([made.id])).length, 1)
    await manager.deleteConversation(made.id)
  })
}
