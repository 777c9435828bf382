"""Passes the messages between a client and a server on and writes each of them down.

`relay.py LOG COMMAND...` is one connection over stdio; `web(LOG, PORT)` serves HTTP for the server at a port.
"""

import http.client
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def pass_on(source, target, side, log, lock):
    for line in source:
        with lock:
            log.write(f"{side} ".encode() + line)
            log.flush()
        try:
            target.write(line)
            target.flush()
        except OSError:
            return
    target.close()


def main(path, command):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = threading.Lock()
    with open(path, "ab") as log:
        threading.Thread(target=pass_on, args=(sys.stdin.buffer, server.stdin, "client", log, lock), daemon=True).start()
        pass_on(server.stdout, sys.stdout.buffer, "server", log, lock)
        return server.wait()


def web(path, upstream):
    """Serves on a port of its own, in threads; answers pass as they come."""
    lock = threading.Lock()

    def write(side, message):
        if message.strip():
            with lock, open(path, "ab") as log:
                log.write(f"{side} ".encode() + message.strip() + b"\n")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def relay(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            write("client", body)
            link = http.client.HTTPConnection("127.0.0.1", upstream)
            left_out = ("host", "connection", "content-length", "transfer-encoding")
            link.request(self.command, self.path, body or None,
                         {name: value for name, value in self.headers.items() if name.lower() not in left_out})
            answer = link.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in left_out:
                    self.send_header(name, value)
            self.end_headers()
            events = "event-stream" in (answer.getheader("content-type") or "")
            while data := answer.readline() if events else answer.read():
                if data.startswith(b"data:") or not events:
                    write("server", data.removeprefix(b"data:"))
                try:
                    self.wfile.write(data)
                    self.wfile.flush()
                except OSError:
                    return  # the client waits no longer

        do_GET = do_POST = do_DELETE = relay

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def messages(path):
    """What was written down so far: (side, message)."""
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        side, _, text = line.partition(b" ")
        try:
            yield side.decode(), json.loads(text)
        except ValueError:
            continue  # the last line may be half written


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
