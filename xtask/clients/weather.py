"""A small MCP server to federate: text and data, data alone, an anchor, a slow answer, a late start (--delay SECONDS)."""

import json
import sys
import time

DATA = {"place": "Oslo", "celsius": 21.5, "wind": {"from": "NW", "knots": 12}}
RESULTS = {
    "both": {"content": [{"type": "text", "text": "Oslo: 21.5 °C,\twind NW 12 kn\n\"mild\""}], "structuredContent": DATA},
    "data": {"content": [], "structuredContent": DATA},
    # Puts a text where the model keeps seeing it.
    "warn": {"content": [{"type": "text", "text": "Warned."}], "_meta": {"tectum/directives": [
        {"type": "context_anchor", "params": {"key": "warning", "content": "storm near Oslo"}}]}},
    "hello": {"content": [{"type": "text", "text": "Hello from the weather server."}]},
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "weather", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": f"Weather: {name}.", "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
                           "annotations": {"readOnlyHint": True}} for name in (*RESULTS, "slow")]}
    if method == "tools/call" and params["name"] == "slow":
        time.sleep(1)  # so that calls made together are seen to be
        return {"content": [{"type": "text", "text": f"Answer number {params['arguments']['number']}."}]}
    return RESULTS[params["name"]] if method == "tools/call" else {}


if "--delay" in sys.argv:
    time.sleep(float(sys.argv[sys.argv.index("--delay") + 1]))
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        known = request["method"] in ("initialize", "ping", "tools/list", "tools/call")
        reply = {"result": answer(request["method"], request.get("params") or {})} if known \
            else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}, ensure_ascii=False), flush=True)
