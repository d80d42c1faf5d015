# The `websockets` package of Python as a server that echoes, in three fragments where the address says so.
import asyncio
import re

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


def in_parts(payload, count):
    size = max(1, -(-len(payload) // count))
    return [payload[index * size:(index + 1) * size] for index in range(count)]


async def echo(socket):
    count = 3 if 'fragments' in socket.request.path else 1
    try:
        await answer(socket, count)
    except ConnectionClosed:
        pass  # with another code than 1000, which is what some cases are about


async def answer(socket, count):
    async for message in socket:
        code = re.fullmatch(r'close:(\d+)', message) if isinstance(message, str) and len(message) < 20 else None
        if code is not None:
            await socket.close(int(code[1]), 'as you wish')
        else:
            await socket.send(message if count == 1 else in_parts(message, count))


async def main():
    async with serve(echo, '127.0.0.1', 0, max_size=None, ping_interval=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
