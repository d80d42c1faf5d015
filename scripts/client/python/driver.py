"""Drives a running server with the published Python client and prints one JSON line for each step.

Arguments: the server's address, the key, a folder for workspaces, the address of a stand-in for a model, whose script is
in clients.ts. The client `openhands-sdk` is installed beside this Python and is used as it is.
"""

import os
import sys

os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import logging  # noqa: E402

import warnings  # noqa: E402

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import httpx  # noqa: E402
import openhands.tools.file_editor  # noqa: E402, F401
import openhands.tools.task_tracker  # noqa: E402, F401
import openhands.tools.terminal  # noqa: E402, F401
from openhands.sdk import LLM, Agent, Conversation, RemoteWorkspace, Tool  # noqa: E402
from openhands.sdk.agent import ACPAgent  # noqa: E402
from openhands.sdk.context.condenser import LLMSummarizingCondenser  # noqa: E402
from openhands.sdk.security.confirmation_policy import AlwaysConfirm, NeverConfirm  # noqa: E402
from steps import equal, step, until  # noqa: E402

host, key, folder, model_url = sys.argv[1:5]


def workspace(name):
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    return RemoteWorkspace(host=host, api_key=key, working_dir=path)


def built_in():
    def llm(usage):
        url = f"{model_url}/v1"
        return LLM(model="openai/stand-in", api_key="a-key-of-a-model", base_url=url, stream=True, usage_id=usage)

    tools = [Tool(name="terminal"), Tool(name="file_editor")]
    return Agent(llm=llm("agent"), tools=tools, condenser=LLMSummarizingCondenser(llm=llm("condenser")))


def external():
    return ACPAgent(acp_command=["agent-server-demo-agent"])


def status(conversation):
    conversation.state.refresh_from_server()
    return conversation.state.execution_status.value


def kinds(conversation):
    return [type(event).__name__ for event in conversation.state.events]


def stored(conversation):
    """The ids of all events but deltas and states, which the client also keeps when they are only pushed."""
    pushed = ("ConversationStateUpdateEvent", "StreamingDeltaEvent")
    return [event.id for event in conversation.state.events if type(event).__name__ not in pushed]


def start(name, agent, callbacks):
    return Conversation(
        agent=agent, workspace=workspace(name), callbacks=[callbacks.append], visualizer=None, delete_on_close=False
    )


def talk(name, agent, prompt):
    """One conversation from its start to its second run; returns it for further steps."""
    seen = []
    conversation = step(f"{name}: Conversation()", lambda: start(name, agent, seen))
    if conversation is None:
        return None

    def send():
        conversation.send_message(prompt)
        equal(status(conversation), "idle")

    def run():
        conversation.run(timeout=60)
        equal(status(conversation), "finished")

    def called_back():
        until(lambda: "ObservationEvent" in [type(event).__name__ for event in seen], "an observation")
        called = [event.id for event in seen]
        equal([id for id in stored(conversation) if id not in called], [])
        equal(len(called), len(set(called)))

    def again():
        before = len(conversation.state.events)
        conversation.send_message("Say something.")
        conversation.run(timeout=60)
        equal(len(conversation.state.events) > before, True)

    step(f"{name}: send_message does not run", send)
    step(f"{name}: run ends as finished", run)
    step(f"{name}: callbacks got every stored event once", called_back)
    step(f"{name}: state.events has actions and observations", lambda: equal(
        {"ActionEvent", "ObservationEvent"} <= set(kinds(conversation)), True))
    step(f"{name}: a second message and run", again)
    step(f"{name}: state.stats", lambda: conversation.state.stats.get_combined_metrics())
    step(f"{name}: conversation_stats", lambda: conversation.conversation_stats)
    step(f"{name}: state.agent, workspace, policy", lambda: equal(
        (conversation.state.agent.kind, conversation.state.confirmation_policy.kind), (agent.kind, "NeverConfirm")))
    step(f"{name}: update_secrets", lambda: conversation.update_secrets({"A_SECRET": "the-value-of-a-secret"}))
    step(f"{name}: ask_agent", lambda: ask(conversation, agent))
    step(f"{name}: fork", lambda: fork(conversation))
    step(f"{name}: title", lambda: title(conversation))
    step(f"{name}: attach by id", lambda: attach(conversation, agent, name))
    return conversation


def ask(conversation, agent):
    try:
        equal(len(conversation.ask_agent("What did you do?")) > 0, True)
    except httpx.HTTPStatusError as error:
        # The demonstration agent cannot copy its session, which the server says.
        if agent.kind != "ACPAgent" or "cannot copy its session" not in error.response.text:
            raise


def fork(conversation):
    copy = conversation.fork(title="A copy")
    try:
        equal(copy.id == conversation.id, False)
        equal("ActionEvent" in kinds(copy), True)
    finally:
        copy.close()


def title(conversation):
    if hasattr(conversation, "set_title"):
        conversation.set_title("A title")
    else:
        conversation.generate_title()


def attach(conversation, agent, name):
    other = Conversation(
        agent=agent, workspace=workspace(name), conversation_id=conversation.id, visualizer=None, delete_on_close=False
    )
    try:
        equal(stored(other), stored(conversation))
    finally:
        other.close()


def confirmation(name, agent, prompt):
    seen = []
    conversation = step(f"{name}: a conversation that asks", lambda: start(f"{name}-asks", agent, seen))
    if conversation is None:
        return
    step(f"{name}: set_confirmation_policy", lambda: conversation.set_confirmation_policy(AlwaysConfirm()))

    def waits():
        conversation.send_message(prompt)
        conversation.run(blocking=False)
        until(lambda: status(conversation) == "waiting_for_confirmation", "a question")

    def rejects():
        conversation.reject_pending_actions("Not now")
        until(lambda: status(conversation) != "waiting_for_confirmation", "the end of the question")
        until(lambda: set(kinds(conversation)) & {"UserRejectObservation"}, "the rejection")

    def approves():
        waits()
        conversation.run(timeout=60)
        equal(status(conversation), "finished")
        equal("ObservationEvent" in kinds(conversation), True)

    step(f"{name}: waits for confirmation", waits)
    step(f"{name}: reject_pending_actions", rejects)
    # The client approves by a run. The question of an external agent takes an answer over REST only (decisions 15).
    if agent.kind == "Agent":
        step(f"{name}: run approves", approves)
    step(f"{name}: the policy back", lambda: conversation.set_confirmation_policy(NeverConfirm()))
    step(f"{name}: close", conversation.close)


def pause(name, agent, prompt):
    conversation = step(f"{name}: a conversation to pause", lambda: start(f"{name}-pause", agent, []))
    if conversation is None:
        return

    def pauses():
        conversation.send_message(prompt)
        conversation.run(blocking=False)
        until(lambda: status(conversation) == "running", "the run")
        conversation.pause()
        until(lambda: status(conversation) == "paused", "the pause")

    def goes_on():
        conversation.run(timeout=60)
        equal(status(conversation), "finished")

    step(f"{name}: pause", pauses)
    step(f"{name}: run after a pause", goes_on)
    step(f"{name}: close", conversation.close)


def machine():
    place = workspace("machine")
    path = os.path.join(folder, "machine", "sub", "file.txt")
    source, copy = os.path.join(folder, "source.txt"), os.path.join(folder, "copy.txt")
    with open(source, "w", encoding="utf-8") as file:
        file.write("some text\n" * 1000)

    def command():
        result = place.execute_command("echo out; echo err >&2; exit 3")
        equal((result.exit_code, result.stdout.strip(), result.stderr.strip()), (3, "out", "err"))

    def late():
        result = place.execute_command("sleep 20", timeout=1)
        equal((result.exit_code, result.timeout_occurred), (-1, True))

    def down():
        equal(place.file_download(path, copy).success, True)
        with open(copy, encoding="utf-8") as file:
            equal(file.read(), "some text\n" * 1000)

    def git():
        who = "-c user.name=A -c user.email=a@example.org"
        made = f"git init -q . && git {who} commit -q --allow-empty -m first && echo new > new.txt"
        equal(place.execute_command(made, cwd=os.path.join(folder, "machine")).exit_code, 0)
        found = place.git_changes(os.path.join(folder, "machine"))
        equal(sorted(str(change.path) for change in found), ["new.txt", "sub/file.txt"])
        equal(place.git_diff(os.path.join(folder, "machine", "new.txt")).modified.strip(), "new")

    step("RemoteWorkspace.execute_command", command)
    step("RemoteWorkspace.execute_command: a time limit", late)
    step("RemoteWorkspace.file_upload", lambda: equal(place.file_upload(source, path).success, True))
    step("RemoteWorkspace.file_download", down)
    step("RemoteWorkspace.git_changes, git_diff", git)
    step("RemoteWorkspace.alive, get_server_info", lambda: equal(place.get_server_info()["version"] != "", True))


first = talk("built-in", built_in(), "Run a command.")
confirmation("built-in", built_in(), "Ask first.")
pause("built-in", built_in(), "Write for long.")
step("built-in: condense", lambda: first.condense())
step("built-in: close", lambda: first.close())
second = talk("external", external(), "run: echo hello")
confirmation("external", external(), "run: echo asked")
pause("external", external(), "run: sleep 5")
step("external: close", lambda: second.close())
machine()
