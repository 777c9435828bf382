"""A scripted model on loopback: answers a coding agent with the calls of a script, hears what they bring.

A script is a generator. It yields a `Call` and gets back the text that the model was given for it, or
None where the agent does not offer the tool; a list of calls is made in one answer and brings a list. A
tool bears the name its MCP server gives it; the agent's own name is found among the tools it offers,
after a search where it defers them. A `Search` brings the tools offered at first and those it found.
"""

import gzip
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dialects

SEARCHES = ("ToolSearch", "tool_search")


@dataclass
class Call:
    tool: str
    arguments: dict = field(default_factory=dict)


@dataclass
class Search:
    """The agent's own search for a tool, in the words of a person."""

    words: str


@dataclass
class Turn:
    """What one request of the agent shows the model: its tools, what a search just found, what calls just brought."""

    offered: list
    found: list
    given: list


def spelled(tool, names):
    """The agent's name for a tool of ours: its prefix and its separators differ from agent to agent."""
    wanted = "tectum_" + re.sub(r"\W|_+", "_", tool)
    return next((name for name in names if re.sub(r"\W|_+", "_", name).endswith(wanted)), None)


def searches(offered, tool):
    """How the agent's own search is asked for one tool: by its whole name, then in words."""
    search = next((name for name in SEARCHES if name in offered), None)
    if search is None:
        return []
    whole = [(search, {"query": f"select:mcp__tectum__{tool}", "max_results": 5})]
    return whole + [(search, {"query": words, "limit": 60}) for words in (tool.replace("_", " "), tool)]


def play(script):
    """Turns the steps of a script into the agent's own calls: yields them as (name, arguments), takes a Turn."""
    turn, known, given = (yield), [], None
    first = turn.offered
    while True:
        try:
            step = script.send(given)
        except StopIteration:
            return
        if isinstance(step, Search):
            search = next(name for name in SEARCHES if name in turn.offered)
            turn = yield [(search, {"query": step.words})]
            given = first, turn.found
            continue
        wanted = step if isinstance(step, list) else [step]
        for call in wanted:
            for query in searches(turn.offered, call.tool):
                if spelled(call.tool, [*turn.offered, *known]):
                    break
                turn = yield [query]
                known += turn.found
        names = [spelled(call.tool, [*turn.offered, *known]) for call in wanted]
        given = [None] * len(wanted)
        if all(names):
            turn = yield [as_offered(turn, name, call.arguments) for name, call in zip(names, wanted)]
            given = turn.given
        given = given if isinstance(step, list) else given[0]


def as_offered(turn, name, arguments):
    if name not in turn.offered and "tool_call" in turn.offered:  # Qwen Code calls what it found by another tool
        return "tool_call", {"name": name, "arguments": arguments}
    return name, arguments


class ScriptedModel:
    """`with ScriptedModel(script) as model:` serves one conversation at `model.address`."""

    def __init__(self, script):
        self.play, self.lock = play(script), threading.Lock()
        next(self.play)
        self.first_offer, self.said, self.count = None, [], 0
        model = self

        class Handler(Listener):
            owner = model

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.http.server_port}"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def calls(self, dialect, body):
        """The calls to answer a request with; none ends the conversation."""
        offered, results = dialect.offered(body), dialect.results(body)
        with self.lock:
            if not any("tectum" in name or name in SEARCHES for name in offered):
                return []  # asked for a title or a summary, apart from the conversation
            self.first_offer = self.first_offer or offered
            pending = [call for call, _, _ in self.said]
            if not all(call in results for call in pending):
                return self.said  # asked again before the calls were answered
            found = dialect.found(body, pending[0]) if pending else []
            try:
                calls = self.play.send(Turn(offered, found, [results[call] for call in pending]))
            except StopIteration:
                calls = []
            self.said = [(f"call_{self.count + number}", *call) for number, call in enumerate(calls, 1)]
            self.count += len(calls)
            return self.said


class Listener(BaseHTTPRequestHandler):
    """HTTP for one scripted model."""

    protocol_version = "HTTP/1.1"
    owner = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(200 if self.path.split("?")[0].endswith("/models") else 404, {"object": "list", "data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        body, path = json.loads(data or b"{}"), self.path.split("?")[0]
        dialect = dialects.spoken_at(path)
        if dialect is None:  # a count of tokens, a note for the maker's statistics
            return self.send(200, {"input_tokens": 9, "totalTokens": 9})
        calls = self.owner.calls(dialect, body)
        whole, events = dialect.answer(body, "done", calls)
        if body.get("stream") or "stream" in path:
            return self.stream(events)
        self.send(200, whole)

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            text = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {text}\n\n".encode())
        self.close_connection = True
