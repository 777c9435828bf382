"""A language server for tests: it knows one rule (a line with WRONG is wrong) and many bad manners.

The first argument says how it behaves (`echo` finds every line wrong); the second is a file it appends its starts to.
"""
import json
import os
import sys
import time

manner = sys.argv[1] if len(sys.argv) > 1 else "push"
if len(sys.argv) > 2:
    with open(sys.argv[2], "a") as starts:
        starts.write(f"{os.getpid()}\n")
source, sink = sys.stdin.buffer, sys.stdout.buffer
texts, asked = {}, []


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sink.flush()


def receive():
    length = 0
    while True:
        line = source.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(source.read(length))


def findings(text):
    lines = enumerate(text.split("\n"))
    return [
        {"range": {"start": {"line": n, "character": 0}, "end": {"line": n, "character": 1}},
         "severity": 1, "message": line.strip()}
        for n, line in lines if "WRONG" in line or manner == "echo"
    ]


def publish(uri, version, found):
    params = {"uri": uri, "diagnostics": found}
    if version is not None:
        params["version"] = version
    send(method="textDocument/publishDiagnostics", params=params)


def on_text(uri, version, text):
    before, texts[uri] = texts.get(uri), (version, text)
    if "DIE" in text:
        sys.stderr.write("cannot go on\n")
        sys.stderr.flush()
        os._exit(3)
    if "HANG" in text:
        time.sleep(3600)
    if manner in ("push", "echo"):
        # What was found before comes once more, as if it had been on its way.
        if before:
            publish(uri, before[0], findings(before[1]))
        publish(uri, version, findings(text))
    elif manner == "quiet":
        # Takes its time, names no version, and says nothing where nothing is wrong and was not.
        time.sleep(0.3)
        if not before or findings(before[1]) or findings(text):
            publish(uri, None, findings(text))
    elif manner == "unversioned":
        publish(uri, None, findings(text)[:1])
        time.sleep(0.05)
        publish(uri, None, findings(text))
    elif manner == "flood":
        while True:
            publish("file:///elsewhere.txt", 1, findings("WRONG\n" * 100))
            send(id="again", method="workspace/configuration", params={"items": [{}] * 50})
    elif manner == "garbage":
        sink.write(b"Content-Length: 5\r\n\r\n{[}]x")
        sink.flush()
    elif manner == "deep":
        body = b"[" * 100000
        sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sink.flush()


if manner == "header":
    while True:
        sink.write(b"x" * 4096)
if manner == "mute":
    time.sleep(3600)
if manner == "deaf":
    message = receive()
    send(id=message["id"], result={"capabilities": {}})
    time.sleep(3600)
while True:
    message = receive()
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        if manner == "polite":
            send(id="c", method="workspace/configuration", params={"items": [{"section": "a.b"}]})
            send(id=1, method="client/registerCapability", params={"registrations": []})
            send(id=2, method="no/such", params={})
        provider = {"diagnosticProvider": {}} if manner in ("pull", "late") else {}
        send(id=message["id"], result={"capabilities": provider})
    elif method == "textDocument/didOpen":
        document = params["textDocument"]
        on_text(document["uri"], document["version"], document["text"])
    elif method == "textDocument/didChange":
        document = params["textDocument"]
        on_text(document["uri"], document["version"], params["contentChanges"][-1]["text"])
    elif method == "textDocument/didClose":
        texts.pop(params["textDocument"]["uri"], None)
        publish(params["textDocument"]["uri"], None, [])
    elif method == "textDocument/diagnostic":
        if manner == "late" and len(asked) < 2:
            asked.append(1)
            send(id=message["id"], error={"code": -32802, "message": "again"})
        else:
            send(id=message["id"], result={"kind": "full", "items": findings(texts[params["textDocument"]["uri"]][1])})
    elif method == "tectum/barrier":
        send(id=message["id"], error={"code": -32601, "message": "unknown"})
    elif method == "shutdown":
        send(id=message["id"], result=None)
    elif method == "exit":
        sys.exit(0)
    elif method is None and manner == "polite":
        asked.append(message)
        if len(asked) == 3:
            for uri in texts:
                said = json.dumps([one.get("result", one.get("error")) for one in asked])
                publish(uri, texts[uri][0], findings("WRONG " + said))
    if manner == "polite" and method == "textDocument/didOpen" and len(asked) == 3:
        said = json.dumps([one.get("result", one.get("error")) for one in asked])
        publish(params["textDocument"]["uri"], params["textDocument"]["version"], findings("WRONG " + said))
