/**
 * Drives a running server with the published TypeScript client and prints one JSON line for each step.
 *
 * A program of its own (its arguments are told in connection.mjs). A step that fails says what came back and what was
 * expected; the next step goes on.
 */
import * as builtIn from './built-in.mjs'
import * as choices from './choices.mjs'
import * as conversations from './conversations.mjs'
import * as extensions from './extensions.mjs'
import * as machine from './machine.mjs'
import * as profiles from './profiles.mjs'
import * as service from './service.mjs'
import * as signIns from './sign-ins.mjs'

await service.describeServer()
await service.changeSettings()
await service.keepSecrets()
await signIns.signIn()
await profiles.keepProfiles()
await profiles.switchProfiles()
await profiles.removeProfiles()
await profiles.listWhatThereIsNot()
await choices.keepAgentProfiles()
await choices.startWithProfile()
await choices.chooseModels()
await choices.keepMcpServers()
await choices.listWhatIsAbsent()
await extensions.installSkills()
await extensions.installPlugins()
await extensions.readProject()
await extensions.askOtherServices()
const first = await conversations.converseOverSockets()
await conversations.readHistory(first)
await machine.moveFiles(first)
await machine.runCommands()
await machine.lookAtRepository()
await machine.keepWorkspaces()
const second = await conversations.answerQuestions()
await conversations.stopRuns()
await conversations.changeConversation(second)
await conversations.listConversations([first, second])
await conversations.branch(first)
await conversations.removeConversation(second)
await builtIn.leadBuiltIn()
await builtIn.leadExternal()
