"""Passes one stdio connection on and writes each message down: relay.py LOG COMMAND..."""

import json
import subprocess
import sys
import threading


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
