"""An MCP client of the official SDK that makes calls as it is told, one JSON line each, and prints what it got."""
import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, token: str) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=None)
    async with Client(streamable_http_client(url, http_client=http)) as client:

        async def call(order: dict) -> None:
            result = await client.call_tool(order["tool"], order["arguments"])
            told = {"name": order["name"], "result": result.model_dump(mode="json", by_alias=True)}
            print(json.dumps(told), flush=True)

        calls = set()
        while line := await asyncio.to_thread(sys.stdin.readline):
            task = asyncio.create_task(call(json.loads(line)))
            calls.add(task)
            task.add_done_callback(calls.discard)


asyncio.run(main(*sys.argv[1:]))
