"""The coding agents: how each is started without a person, with one MCP server and the model at an address of ours.

`setup(visit)` writes the agent's settings below `visit.home` and returns its arguments and environment.
All tools of the server are allowed, as a user does who wants them to run.
"""

import json
from dataclasses import dataclass
from pathlib import Path

PROMPT = "Do the task with the tools you have."


@dataclass
class Visit:
    """One run of an agent."""

    home: Path
    model: str
    command: list  # starts the MCP server
    env: dict      # of that server
    url: str = ""  # where it is served over HTTP; then nothing is started
    token: str = ""

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.token}"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def entry(visit, url):
    """The server's entry as most agents write it; `url` is their word for an address over HTTP."""
    if visit.url:
        return {url: visit.url, "headers": visit.headers}
    return {"command": visit.command[0], "args": visit.command[1:], "env": visit.env}


def claude(visit):
    servers = {"mcpServers": {"tectum": {"type": "http" if visit.url else "stdio", **entry(visit, "url")}}}
    arguments = ["-p", PROMPT, "--strict-mcp-config", "--mcp-config", json.dumps(servers), "--allowedTools", "mcp__tectum"]
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    return arguments, {"ANTHROPIC_BASE_URL": visit.model, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}


def codex(visit):
    if visit.url:
        server = f"url = {json.dumps(visit.url)}\nbearer_token_env_var = \"TECTUM_TOKEN\""
    else:
        env = ", ".join(f"{name} = {json.dumps(value)}" for name, value in visit.env.items())
        server = f"command = {json.dumps(visit.command[0])}\nargs = {json.dumps(visit.command[1:])}\nenv = {{ {env} }}"
    write(visit.home / ".codex/config.toml", f"""
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
analytics.enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{visit.model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.tectum]
{server}
default_tools_approval_mode = "approve"
""")
    return ["exec", "--skip-git-repo-check", PROMPT], {
        "CODEX_HOME": str(visit.home / ".codex"), "SCRIPTED_KEY": "none", "TECTUM_TOKEN": visit.token}


def opencode(visit):
    server = {"type": "remote", "url": visit.url, "headers": visit.headers} if visit.url else \
        {"type": "local", "command": visit.command, "environment": visit.env}
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    settings = {
        "model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": False, "share": "disabled",
        "permission": {"*": "allow"},
        "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": {"scripted": model},
                                  "options": {"baseURL": f"{visit.model}/v1", "apiKey": "none"}}},
        "mcp": {"tectum": {**server, "enabled": True}},
    }
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    return ["run", PROMPT], {"OPENCODE_CONFIG_CONTENT": json.dumps(settings),
                             **{f"OPENCODE_DISABLE_{what}": "1" for what in quiet}}


def gemini(visit):
    write(visit.home / ".gemini/settings.json", {
        "mcpServers": {"tectum": {**entry(visit, "httpUrl"), "trust": True}}, **unattended("gemini-api-key"),
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}})
    return ["-p", PROMPT, "-m", "gemini-2.5-pro"], {
        "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": visit.model, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true"}


def qwen(visit):
    write(visit.home / ".qwen/settings.json", {
        "mcpServers": {"tectum": {**entry(visit, "httpUrl"), "trust": True}}, **unattended("openai"),
        "general": {"enableAutoUpdate": False}, "model": {"name": "scripted"}})
    return [PROMPT, "--auth-type", "openai"], {
        "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{visit.model}/v1", "OPENAI_MODEL": "scripted"}


def unattended(auth):
    """What Gemini CLI and its descendant ask a person for."""
    return {"security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}},
            "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False}}


SETUPS = {"claude": claude, "codex": codex, "opencode": opencode, "gemini": gemini, "qwen": qwen}
