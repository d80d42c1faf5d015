"""Does the main job with the client that openapi-python-client has generated: create, send, run, read.

Arguments: the server's address, the key, a folder for the workspace, the address of a stand-in for a model. The package
`generated_client` is in the folder that PYTHONPATH names.
"""

import importlib
import json
import pkgutil
import sys
import time

import generated_client
from generated_client import AuthenticatedClient
from generated_client.api.conversations import delete_api_conversations_conversation_id as delete
from generated_client.api.conversations import get_api_conversations_conversation_id as show
from generated_client.api.conversations import get_api_conversations_conversation_id_agent_final_response as response
from generated_client.api.conversations import post_api_conversations as create
from generated_client.api.events import get_api_conversations_conversation_id_events_search as search
from generated_client.api.events import post_api_conversations_conversation_id_events as send
from generated_client.models import ActionEvent, ConversationInfo, SendMessageRequest, StartConversationRequest

WAIT_LIMIT_S = 60

host, key, folder, model_url = sys.argv[1:5]
client = AuthenticatedClient(
    base_url=host, token=key, prefix="", auth_header_name="X-Session-API-Key", raise_on_unexpected_status=True
)


def done(name):
    sys.stdout.write(json.dumps({"name": name, "ok": True, "seen": ""}) + "\n")
    sys.stdout.flush()


modules = [module.name for module in pkgutil.walk_packages(generated_client.__path__, "generated_client.")]
for name in modules:
    importlib.import_module(name)
done(f"{len(modules)} modules are imported")

llm = {"model": "openai/stand-in", "api_key": "a-key-of-a-model", "base_url": f"{model_url}/v1"}
agent = {"kind": "Agent", "llm": llm, "tools": [{"name": "terminal"}]}
request = StartConversationRequest.from_dict({"workspace": {"working_dir": folder}, "agent": agent})
conversation = create.sync(client=client, body=request)
assert isinstance(conversation, ConversationInfo), conversation
done("a conversation is created")

message = SendMessageRequest.from_dict({"content": [{"type": "text", "text": "Run a command."}], "run": True})
sent = send.sync_detailed(conversation.id, client=client, body=message)
assert sent.status_code == 200, sent
done("a message is sent, and the agent runs")

deadline = time.monotonic() + WAIT_LIMIT_S
while (seen := show.sync(conversation.id, client=client)).execution_status not in ("finished", "error"):
    assert time.monotonic() < deadline, seen
    time.sleep(0.05)
assert seen.execution_status == "finished", seen
done("the run ends")

page = search.sync(conversation.id, client=client, limit=100)
actions = [event for event in page.items if isinstance(event, ActionEvent)]
assert [action.tool_name for action in actions] == ["terminal", "finish"], page
assert response.sync(conversation.id, client=client).response == "Done with it.", "the final response is another"
done("events are read")

assert delete.sync(conversation.id, client=client).success is True
done("the conversation is deleted")
