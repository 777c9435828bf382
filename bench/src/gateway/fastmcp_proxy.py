"""FastMCP as a gateway before copies of one stdio server: PORT (or "stdio"), COUNT, COMMAND..."""

import sys

from fastmcp.server import create_proxy

port, count, program, *arguments = sys.argv[1:]
server = {"command": program, "args": arguments}
gateway = create_proxy({"mcpServers": {f"s{number}": server for number in range(int(count))}})
if port == "stdio":
    gateway.run(show_banner=False)
else:
    gateway.run(
        transport="http", host="127.0.0.1", port=int(port), log_level="warning", show_banner=False
    )
