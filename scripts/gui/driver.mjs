/**
 * Drives the published web page as its user would and prints one JSON line for each step.
 *
 * A program of its own (its arguments are told in page.mjs). A step that fails says what was seen; the next one goes
 * on.
 */
import { equal, step } from '../client/steps.mjs'
import * as builtin from './builtin.mjs'
import * as conversations from './conversations.mjs'
import * as hardships from './hardships.mjs'
import { counts, red, refused } from './network.mjs'
import { meetAgain } from './onboarding.mjs'
import { close } from './page.mjs'
import * as settings from './settings.mjs'
import * as stream from './stream.mjs'
import * as workspace from './workspace.mjs'

await conversations.meetFirst()
await conversations.stopAndGoOn()
await conversations.sendInTheRun()
await conversations.lookAround()
await workspace.readWorkspace()
await workspace.branch()
await workspace.exportHistory()
await workspace.openWorkspace()
await hardships.uploadFiles()
await hardships.killAndGoOn()
await hardships.readLongHistory()
await settings.openPages()
await settings.fillForms()
await settings.switchSkill()
await settings.manageMcpServer()
await settings.managePlugin()
await conversations.talkToBuiltIn()
await builtin.useTools()
await builtin.askAside()
await builtin.repeatItself()
await builtin.answerTwoQuestions()
await stream.writeOn()
await stream.useCommands()
await settings.changeSwitches()
await conversations.answerQuestions()
await conversations.answerOneByOne()
await hardships.failFirst()
await conversations.renameAndDelete()
await conversations.talkAcrossOrigins()
await meetAgain()
await step('requests across origins had preflights', () => equal(counts.preflights > 0, true))
await step('no request of the page was refused', () => equal([...refused], []))
await step('nothing of the server is red in the console', () => equal([...red], []))
await close()
