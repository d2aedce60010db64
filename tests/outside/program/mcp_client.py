"""Drives the memory with the official MCP client; prints what it saw as one line of JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def together(calls):
    """All at once on a connection of its own; requests over HTTP stand each for itself, so one after the other."""
    if sys.argv[1] == "stdio":
        return await asyncio.gather(*calls)
    return [await call for call in calls]


async def drive(session):
    await session.initialize()
    listed = (await session.list_tools()).tools
    told = {"tools": [tool.name for tool in listed]}
    told["read_only_hints"] = sum(
        1 for tool in listed if tool.annotations and tool.annotations.read_only_hint
    )
    added = await session.call_tool("memory_add", {"text": "The shop is deployed to Porto"})
    fact = added.structured_content["id"]
    found = await session.call_tool("memory_search", {"query": "where is the shop deployed?"})
    told["found"] = text(found)
    context = await session.call_tool("memory_context", {"task": "deploy the shop"})
    told["context"] = text(context)
    got = await session.call_tool("memory_get", {"ids": [fact, "fact:999"]})
    assert got.structured_content["results"][0]["text"].startswith("The shop"), got
    updated = await session.call_tool(
        "memory_update", {"id": fact, "text": "The shop is deployed to Lisbon", "superseded": True}
    )
    told["updated"] = text(updated)
    history = await session.call_tool("memory_history", {"id": fact})
    assert "fact.supersede" in json.dumps(history.structured_content), history
    await session.call_tool("memory_reflect", {"lesson": "Check the region before a deploy"})
    status = await session.call_tool("memory_status", {})
    assert status.structured_content["procedures"] == 1, status
    # One call after the other, though they are sent together.
    newer = updated.structured_content["id"]
    calls = [
        session.call_tool("memory_forget", {"id": newer}),
        session.call_tool("memory_search", {"query": "Lisbon", "types": "facts"}),
    ]
    forgotten, after = await together(calls)
    assert not forgotten.is_error, forgotten
    told["after_forget"] = text(after).splitlines()[0]
    wrong = await session.call_tool("memory_forget", {"id": "fact:999"})
    told["unknown_is_error"] = bool(wrong.is_error)
    adds = [
        session.call_tool("memory_add", {"text": f"Box number {number} is on the shelf"})
        for number in range(8)
    ]
    ids = [result.structured_content["id"] for result in await together(adds)]
    told["in_order"] = ids == sorted(ids)
    resource = await session.read_resource("memory://memory")
    told["resource"] = resource.contents[0].text
    prompts = await session.list_prompts()
    assert [prompt.name for prompt in prompts.prompts] == ["recall", "remember", "reflect"]
    print(json.dumps(told))


async def main():
    if sys.argv[1] == "stdio":
        server = StdioServerParameters(command=sys.argv[2], args=["mcp"])
        async with stdio_client(server) as (read, write):
            async with ClientSession(read, write) as session:
                await drive(session)
        return
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {sys.argv[3]}"})
    async with client, streamable_http_client(sys.argv[2], http_client=client) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await drive(session)


asyncio.run(main())
