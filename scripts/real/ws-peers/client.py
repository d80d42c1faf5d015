# The `websockets` package of Python as a client: the same cases as cases.mjs.
import asyncio
import hashlib
import json
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


def payload_of(kind, length):
    if kind == 'text':
        return ('words of a message that come again, ' * (length // 36 + 1))[:length]
    return bytes((index * 7 + (index >> 8)) & 0xFF for index in range(min(length, 5000))) + b'\x01' * max(0, length - 5000)


def in_parts(payload, count):
    size = max(1, -(-len(payload) // count))
    return [payload[index * size:(index + 1) * size] for index in range(count)]


async def events(socket, message):
    await socket.send(message)
    digests = []
    while True:
        frame = await socket.recv()
        digests.append(hashlib.sha256(frame.encode()).hexdigest())
        event = json.loads(frame)
        if event['kind'] == 'ConversationStateUpdateEvent' and event.get('key') == 'execution_status' and event['value'] == 'finished':
            return digests


async def run_case(socket, case):
    extensions = socket.response.headers.get('Sec-WebSocket-Extensions', '')
    if ('permessage-deflate' in extensions) != case.get('deflated', False):
        return f'extensions: {extensions}'
    if case['do'] == 'events':
        return 'frames ' + json.dumps(await events(socket, case['message']))
    if case['do'] == 'ping':
        await (await socket.ping('are you there'))
        return 'done'
    if case['do'] == 'echo':
        payload = payload_of(case['type'], case['length'])
        await socket.send(payload if case['fragments'] == 1 else in_parts(payload, case['fragments']))
        answer = await socket.recv()
        return 'done' if answer == payload else f'an answer of {len(answer)} that is not what was sent'
    if case['do'] == 'close':
        await socket.close(case['code'], 'why')
    else:
        await socket.send(f"close:{case['code']}")
        try:
            await socket.recv()
        except ConnectionClosed:
            pass
    seen = socket.close_code
    return 'done' if seen == case['code'] else f'closed with {seen}'


async def main():
    given = json.loads(sys.argv[1])
    socket = None
    for case in given['cases']:
        try:
            if socket is None:
                socket = await connect(given['url'], compression='deflate' if given['deflate'] else None, max_size=None, ping_interval=None)
            outcome = await asyncio.wait_for(run_case(socket, case), 120)
        except Exception as error:
            outcome = f'{type(error).__name__}: {error}'
        if outcome != 'done' or case['do'] != 'echo':
            if socket is not None:
                await socket.close()
            socket = None
        print(json.dumps({'name': case['name'], 'isRight': outcome == 'done', 'skipped': False, 'seen': outcome}), flush=True)


asyncio.run(main())
