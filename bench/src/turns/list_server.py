import os
import sys

from mcp.server.fastmcp import FastMCP

root = os.path.realpath(sys.argv[1])
server = FastMCP("list")


@server.tool()
def list_directory(path: str) -> str:
    full = os.path.realpath(os.path.join(root, path))
    if not full.startswith(root):
        raise ValueError("outside")
    return "\n".join(sorted(os.listdir(full)))


server.run()
