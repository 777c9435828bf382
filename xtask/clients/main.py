"""Drives real coding agents against Tectum with a scripted model behind them and prints what the model was given.

Started by `cargo xtask clients`, which installs the agents; everything of a run is kept below --out.
"""

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import agents
import cases
import relay
from model import ScriptedModel

HERE = Path(__file__).resolve().parent
PATIENCE = 180  # seconds; an agent ends by itself long before


def raise_loopback():
    """A network of our own starts with its loopback down."""
    with socket.socket() as link:
        name = b"lo".ljust(16, b"\0")
        flags, = struct.unpack_from("h", fcntl.ioctl(link, 0x8913, name + bytes(24)), 16)
        if not flags & 1:
            fcntl.ioctl(link, 0x8914, name + struct.pack("h22x", flags | 1))


def visit(options, agent, program, case):
    """Runs one agent through one case; returns the rows that were filled."""
    folder = options.out / (f"{agent}-{case.name}" + "-http" * options.http)
    shutil.rmtree(folder, ignore_errors=True)
    home, house = folder / "home", folder / "house"
    home.mkdir(parents=True)
    house.mkdir()
    stage = cases.Stage(folder / "project", folder / "messages.log")
    stage.set()
    settings = folder / "tectum.toml"
    settings.write_text(case.settings)
    tectum = [str(options.tectum), "-c", str(settings), "-C", str(stage.project)]
    env = {"HOME": str(house), "PATH": os.environ["PATH"]}
    if case.meet:
        subprocess.run([*tectum, "tools", "--meet"], env=env, stdout=subprocess.DEVNULL, check=True)
    with contextlib.ExitStack() as ending, ScriptedModel(case.script(stage)) as model, open(folder / "output.txt", "w") as output:
        command = [sys.executable, str(HERE / "relay.py"), str(stage.log), *tectum, "serve"]
        web = ending.enter_context(served(tectum, env, folder)) if options.http else {}
        arguments, own = agents.SETUPS[agent](agents.Visit(home, model.address, command, env, **web))
        everyone = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
        process = subprocess.Popen([str(program), *arguments], env={**everyone, **own}, cwd=stage.project,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    (folder / "evidence.json").write_text(json.dumps(
        {"rows": stage.rows, "first offer": model.first_offer, "evidence": stage.evidence}, ensure_ascii=False, indent=1))
    if not stage.rows:
        raise RuntimeError(f"no call was made; its own words are in {folder / 'output.txt'}")
    if case.name == "native":
        ours = sum("tectum" in name for name in model.first_offer)
        stage.rows = {"tools of ours defined at first": f"{ours}" if ours else "0, it searches", **stage.rows}
    return stage.rows


@contextlib.contextmanager
def served(tectum, env, folder):
    """Tectum over HTTP: the address and the token for an agent."""
    with open(folder / "tectum.txt", "w") as words, \
            subprocess.Popen([*tectum, "up", "--port", "0"], env=env, stdout=subprocess.PIPE, stderr=words, text=True) as process:
        said = {}
        while "token" not in said and (line := process.stdout.readline()):
            name, _, value = line.strip().partition(" ")
            said[name] = value.strip()
        if "token" not in said:
            raise RuntimeError(f"Tectum does not serve; its own words are in {words.name}")
        port = int(said["url"].split(":")[2].split("/")[0])
        between = relay.web(folder / "messages.log", port)
        try:
            token = Path(said["token"].removeprefix("in ")).read_text().strip()
            yield {"url": f"http://127.0.0.1:{between.server_port}/mcp", "token": token}
        finally:
            between.shutdown()
            between.server_close()
            process.terminate()


def table(columns, filled):
    columns = {agent: title for agent, title in columns.items() if filled.get(agent)}
    rows = list(dict.fromkeys(row for rows in filled.values() for row in rows))
    out = ["| case | " + " | ".join(columns.values()) + " |", "|---" * (len(columns) + 1) + "|"]
    out += [f"| {row} | " + " | ".join(filled[agent].get(row, "–") for agent in columns) + " |" for row in rows]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tectum", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", action="append", metavar="NAME=VERSION=PROGRAM", required=True)
    parser.add_argument("--case", action="append", choices=[case.name for case in cases.CASES])
    parser.add_argument("--http", action="store_true", help="over HTTP instead of stdio")
    parser.add_argument("--docs", type=Path, help="put the tables between the marks of this file")
    options = parser.parse_args()
    raise_loopback()
    columns, tables, failures = {}, {}, 0
    for entry in options.agent:
        agent, version, program = entry.split("=", 2)
        columns[agent] = f"{agent} {version}"
        for case in cases.CASES:
            if options.case and case.name not in options.case or case.agents and agent not in case.agents:
                continue
            if options.http and case.table == "wishes":
                continue  # what a search finds is no matter of the transport
            filled = tables.setdefault("http" if options.http else case.table, {}).setdefault(agent, {})
            try:
                filled.update(visit(options, agent, program, case))
                print(f"{agent} {case.name}: done", file=sys.stderr)
            except (OSError, RuntimeError, subprocess.CalledProcessError) as problem:
                failures += 1
                print(f"{agent} {case.name}: {problem}", file=sys.stderr)
    for name, filled in tables.items():
        text = table(columns, filled)
        print(text)
        if options.docs:
            begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
            before, _, rest = options.docs.read_text().partition(begin)
            _, _, after = rest.partition(end)
            options.docs.write_text(f"{before}{begin}\n{text}{end}{after}")
    print(f"Everything is kept in {options.out}.", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
