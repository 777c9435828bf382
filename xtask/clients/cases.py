"""What the scripted model does with the server, and the rows of the table that come of it.

A case is a script under some settings of Tectum. `stage.row` makes a call and weighs what the model was
given for it; a remark is what else can be told of it. Blocks are known by what they tell, not by how
they are worded.
"""

import json
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import relay
from model import Call, Search, spelled
from weigh import weigh

GREET = '''def greet(name: str) -> str:
\t"""Say "hi" to Zoë."""
\tif name == 'x':
\t\treturn "naïve → ok"
\treturn f"hi {name}"
'''
SHAPES = '''import math


class Circle:
    """A round thing."""

    def __init__(self, radius: float):
        self.radius = radius

    def area(self) -> float:
        """How much it covers."""
        return math.pi * self.radius**2


def biggest(shapes):
    """The one with the largest area."""
    return max(shapes, key=lambda shape: shape.area())
'''
LONG = "".join(f'{number:05d} the quick brown fox "jumps" over lazy dogs\n' for number in range(1, 8001))
HERE = Path(__file__).resolve().parent
WEATHER = [sys.executable, str(HERE / "weather.py")]
CONTEXT = "[context]\nrefresh = true\nappend_anchors = true\n[tools]\nprofile = \"all\"\n"  # the lean list has no to-do list
TODO = "count the quokkas"


@dataclass
class Stage:
    """One project, one connection, and the rows that were filled."""

    project: Path
    log: Path
    rows: dict = field(default_factory=dict)
    evidence: list = field(default_factory=list)

    def set(self):
        self.project.mkdir(parents=True)
        for name, text in (("greet.py", GREET), ("shapes.py", SHAPES), ("notes.md", "# Notes\n\nfirst\n"), ("long.txt", LONG)):
            (self.project / name).write_text(text)

    def answer(self, call):
        """The server's newest answer to a call."""
        asked, newest = set(), {}
        for side, message in relay.messages(self.log):
            if side == "client" and called(message) == (call.tool, call.arguments):
                asked.add(json.dumps(message["id"]))
            elif side == "server" and json.dumps(message.get("id")) in asked and "method" not in message:
                newest = message.get("result") or {"content": [{"type": "text", "text": message["error"]["message"]}]}
        return newest

    def row(self, name, call, *remarks):
        given = yield call
        if given is None:
            self.rows[name] = "not offered"
            return None
        answer = self.answer(call)
        told = [str(weigh(given, answer))] if answer else ["never reached the server"]
        told += filter(None, (remark(given, answer) for remark in remarks))
        self.rows[name] = "; ".join(told)
        self.evidence.append({"row": name, "given": given, "answer": answer})
        return given


def called(message):
    """The tool and the arguments of a call."""
    params = message.get("params") or {}
    return (params["name"], params.get("arguments") or {}) if message.get("method") == "tools/call" else None


@dataclass
class Case:
    name: str
    script: Callable
    settings: str = ""
    meet: bool = False       # the servers are met before the agent starts
    table: str = "measured"  # where its rows go
    agents: tuple = ()       # the only ones that it is for


def server(name, *more):
    return f"[servers.{name}]\ncommand = {json.dumps([*WEATHER, *more])}\n"


def tells(word, what):
    """Whether a block that tells `word` reached the model."""
    def remark(given, answer):
        sent = word in json.dumps(answer, ensure_ascii=False)
        return f"{what} arrived" if word in given else f"{what} sent and **lost**" if sent else f"{what} **not sent**"
    return remark


def lines(text):
    """The last line that came without a hole before it, and whether anything came after a hole."""
    numbers = [int(number) for number in re.findall(r"(\d{5}) the quick brown fox", text)]
    last = next((at for at, number in enumerate(numbers, 1) if number != numbers[0] + at - 1), len(numbers) + 1) - 1
    return (numbers[0] + last - 1 if numbers else 0), last < len(numbers)


def native(stage):
    yield from stage.row("read_file, small", Call("read_file", {"path": "greet.py"}))
    yield from stage.row("missing file", Call("read_file", {"path": "nope.py"}))
    yield from stage.row("edit_file", Call("edit_file", {"path": "greet.py", "old_string": "naïve", "new_string": "clever"}))
    new = {"path": "new.txt", "content": "new"}
    given = yield from stage.row("write_file, new", Call("write_file", new), written(stage))
    if given is None:
        yield from stage.row("write_file, new", Call("create_file", new), written(stage), lambda *_: "as create_file")
    yield from stage.row("list_directory", Call("list_directory", {"path": "."}))
    yield from stage.row("code_outline", Call("code_outline", {"path": "shapes.py"}), tells("How much it covers.", "doc lines"))
    yield from stage.row("search_content", Call("search_content", {"path": ".", "pattern": "radius"}))
    name = "read_file, 8,000 lines"
    given = yield from stage.row(name, Call("read_file", {"path": "long.txt"}), came)
    last, _ = lines(given or "")
    if last and re.search(rf"(?<!\d){last + 1}(?!\d)", given):
        more = yield Call("read_file", {"path": "long.txt", "start_line": last + 1})
        followed = more is not None and f"{last + 1:05d} the quick" in more
        stage.rows[name] += "; continuation seen, " + ("followed" if followed else "**leads nowhere**")
    elif given:
        stage.rows[name] += "; **no continuation seen**"


def written(stage):
    return lambda *_: "written" if (stage.project / "new.txt").exists() else "**not written**"


def came(given, answer):
    last, hole = lines(given)
    return f"lines 1 to {last}" + (", then a **hole**" if hole else "")


def context(stage):
    yield Call("read_file", {"path": "greet.py"})
    (stage.project / "greet.py").write_text(GREET + "\n# changed by someone else\n")
    notes = {"path": "notes.md"}
    yield from stage.row("file changed under the agent", Call("read_file", notes), tells("greet.py", "report"))
    todos = [{"content": TODO, "status": "in_progress", "active_form": "counting"}]
    yield from stage.row("todo_write", Call("todo_write", {"todos": todos}), tells(TODO, "item"))
    yield from stage.row("anchor of a server", Call("weather__warn"), tells("storm near Oslo", "anchor"))
    yield from stage.row("the answer after it", Call("read_file", notes), again)


def again(given, answer):
    return f"anchor told {'again' if 'storm near Oslo' in given else 'no more'}"


def federated(stage):
    yield from stage.row("federated, text and data", Call("weather__both"))
    yield from stage.row("federated, data only", Call("weather__data"), tells("21.5", "data"))


def never_met(stage):
    name, hello = "server never met, needs 1.5 s", Call("late__hello")
    given = yield from stage.row(name, hello, lambda *_: "callable in the first turn")
    if given is None:
        given = yield from stage.row(name, Call("call_tool", {"name": "late__hello", "arguments": {}}), lambda *_: "by call_tool")
    if given is None:
        time.sleep(3)
        yield Call("read_file", {"path": "greet.py"})
        yield from stage.row(name, hello, lambda *_: "callable in a later turn only")


def ask(stage):
    def asked(given, answer):
        said = list(relay.messages(stage.log))
        questions = [m for side, m in said if side == "server" and (
            m.get("method") == "elicitation/create" or (m.get("result") or {}).get("resultType") == "input_required")]
        actions = re.findall(r'"action": ?"(\w+)"', " ".join(json.dumps(m) for side, m in said if side == "client"))
        if questions:
            return f"asked, answered `{'`, `'.join(actions) or 'nothing'}`"
        offered = any('"elicitation"' in json.dumps(m) for side, m in said if side == "client")
        return "**nobody was asked**" if offered else "the client offers no questions"
    yield from stage.row("`ask` rule", Call("delete_file", {"path": "notes.md"}), asked)


def parallel(stage):
    reads = [Call("weather__slow", {"number": number}) for number in (1, 2, 3)]
    yield from together(stage, "three calls of a server in one answer", reads)
    edits = [Call("edit_file", {"path": "long.txt", "old_string": f"{line:05d} the", "new_string": f"{line:05d} one"})
             for line in (10, 20, 30)]
    yield from together(stage, "three edits of one file in one answer", edits)
    landed = (stage.project / "long.txt").read_text().count(" one quick")
    stage.rows["three edits of one file in one answer"] += f"; {landed} of 3 in the file"


def together(stage, name, calls):
    """Makes calls in one answer: whether each result came to its own call, and how many were under way at once."""
    given = yield calls
    if None in given:
        stage.rows[name] = "not offered"
        return
    whole = sum(weigh(text, stage.answer(call)).form == "text" for text, call in zip(given, calls))
    most, open_calls = 0, set()
    for side, message in relay.messages(stage.log):
        if side == "client" and called(message) in [(call.tool, call.arguments) for call in calls]:
            open_calls.add(json.dumps(message["id"]))
        elif side == "server" and "method" not in message:
            open_calls.discard(json.dumps(message.get("id")))
        most = max(most, len(open_calls))
    stage.rows[name] = f"{whole} of {len(calls)} came whole, each to its call; {most} at once"
    stage.evidence.append({"row": name, "given": given})


def wished():
    """The wishes, each with the tools that fulfil it."""
    for line in (HERE / "wishes.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            wish, _, tools = line.partition(": ")
            yield wish, tools.split(", ")


def wishes(stage):
    at_hand = 0
    for wish, tools in wished():
        first, found = yield Search(wish)
        place = next((at for at, name in enumerate(found, 1) if any(spelled(tool, [name]) for tool in tools)), None)
        loaded = any(spelled(tool, first) for tool in tools)
        at_hand += bool(place or loaded)
        stage.rows[f"{wish} → {' or '.join(tools)}"] = \
            "defined at first" if loaded else f"found, {place} of {len(found)}" if place else "**not found**"
        stage.evidence.append({"wish": wish, "found": found})
    stage.rows["all"] = f"{at_hand} of {len(list(wished()))}"


CASES = (
    Case("native", native),
    Case("context", context, CONTEXT + server("weather"), meet=True),
    Case("federated", federated, server("weather"), meet=True),
    Case("never-met", never_met, server("late", "--delay", "1.5")),
    Case("parallel", parallel, server("weather"), meet=True),
    Case("wishes", wishes, table="wishes", agents=("claude", "codex", "qwen")),
    Case("ask", ask, '[permissions]\nask = ["delete_file"]\n'),
)
