"""A client of Tectum's hook API: asks a running Tectum for its state, steers its console, and asks its
person. It needs nothing but Python."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar
from urllib.parse import quote, urlsplit

__all__ = ["ApiHookClient", "ApiHookError", "USUAL_URL"]
__version__ = "0.1.0"

USUAL_URL = "http://127.0.0.1:8999"
"""The address of a Tectum that nobody said otherwise about."""

# The longest wait between two tries, in seconds.
_LONGEST_DELAY = 2.0
# The time for an answer: Tectum itself gives up after 60 s.
_PATIENCE = 65.0
# The first pause between two looks of a method that waits for something.
_POLL = 0.05

_T = TypeVar("_T")

# The members of the diagnostics that the console's indicators show, by the names of their widgets.
_INDICATORS = {
    "thinking_indicator": "thinking",
    "operations_live_indicator": "live",
    "prior_session_indicator": "prior",
}


class ApiHookError(Exception):
    """A request failed. `status` is that of HTTP, or 0 if nobody answered; `hint` says what to do next."""

    def __init__(self, message: str, status: int = 0, kind: str = "unreachable", hint: Optional[str] = None) -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.status = status
        self.kind = kind
        self.hint = hint


class _Unsent(ApiHookError):
    """Nobody could be reached, so nothing can have happened."""


class ApiHookClient:
    """A client of one Tectum. It tries again, with growing pauses, while that cannot be reached.

    Without an address it takes the one in `TECTUM_URL`, the socket of the Tectum that serves the present
    directory, or the usual one; without a token the one in `TECTUM_TOKEN` or in Tectum's state directory.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        max_retries: int = 5,
        retry_delay: float = 0.2,
        *,
        token: Optional[str] = None,
    ) -> None:
        state = _state_directory()
        self.base_url = (base_url or os.environ.get("TECTUM_URL") or _serving(state) or USUAL_URL).rstrip("/")
        self.max_retries = max_retries
        self.retry_delay = retry_delay
        self._token = token or os.environ.get("TECTUM_TOKEN") or _kept_token(state)
        _connection(self.base_url, None)

    # Connection

    def wait_for_server(self, timeout: float = 3) -> bool:
        """Waits until Tectum answers; false if it did not within this time."""

        def ready() -> Optional[bool]:
            try:
                self._once("GET", "/status", None, timeout)
            except ApiHookError:
                return None
            return True

        return _until(timeout, ready) is not None

    def _make_request(
        self, method: str, endpoint: str, data: Any = None, timeout: Optional[float] = _PATIENCE
    ) -> Any:
        """Sends a request and returns the JSON of its answer. One that can have had an effect is not sent
        twice."""
        delay = self.retry_delay
        for _ in range(self.max_retries):
            try:
                return self._once(method, endpoint, data, timeout)
            except _Unsent:
                time.sleep(delay)
                delay = min(delay * 2, _LONGEST_DELAY)
        return self._once(method, endpoint, data, timeout)

    def _once(self, method: str, endpoint: str, data: Any, timeout: Optional[float]) -> Any:
        headers = {"Accept": "application/json", "Connection": "close"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        body = None
        if data is not None:
            body = json.dumps(data).encode()
            headers["Content-Type"] = "application/json"
        connection = _connection(self.base_url, timeout)
        try:
            try:
                connection.connect()
            except OSError as error:
                hint = "start one in the project with `tectum up`"
                raise _Unsent(f"cannot reach a Tectum at {self.base_url}: {error}", hint=hint) from error
            try:
                connection.request(method, endpoint, body, headers)
                answer = connection.getresponse()
                text = answer.read()
            except TimeoutError as error:
                raise ApiHookError(f"{self.base_url} did not answer within {timeout} s", kind="timeout") from error
            except (OSError, http.client.HTTPException) as error:
                raise ApiHookError(f"the Tectum at {self.base_url} broke off: {error}") from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise _refusal(answer.status, text)
        try:
            return json.loads(text)
        except ValueError as error:
            raise ApiHookError(f"{method} {endpoint} was not answered with JSON", answer.status, "upstream") from error

    # State

    def get_status(self) -> dict[str, Any]:
        """Whether it runs."""
        return _object(self._make_request("GET", "/status"))

    def get_project(self) -> dict[str, Any]:
        """The project and its settings."""
        return _object(self._make_request("GET", "/api/project"))

    def post_project(self, project: dict[str, Any]) -> dict[str, Any]:
        """Replaces the project that the console shows."""
        return _object(self._make_request("POST", "/api/project", {"project": project}))

    def get_session(self) -> dict[str, Any]:
        """The entries of the discussion."""
        return _object(self._make_request("GET", "/api/session"))

    def post_session(self, entries: list[Any]) -> dict[str, Any]:
        """Replaces the entries of the discussion."""
        return _object(self._make_request("POST", "/api/session", {"session": {"entries": entries}}))

    def get_mma_status(self) -> dict[str, Any]:
        """The whole state of the orchestration."""
        return _object(self._make_request("GET", "/api/gui/mma_status"))

    def get_performance(self) -> dict[str, Any]:
        """The figures of the host's user interface."""
        return _object(self._make_request("GET", "/api/performance"))

    def get_value(self, item: str) -> Any:
        """The value of a settable field; None if there is no such field."""
        return _object(self._make_request("GET", f"/api/gui/value/{quote(item, safe='')}")).get("value")

    def get_text_value(self, item_tag: str) -> Optional[str]:
        """The same as text."""
        value = self.get_value(item_tag)
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value)

    def get_events(self) -> list[dict[str, Any]]:
        """Takes the events that came since the last time."""
        return list(_object(self._make_request("GET", "/api/events")).get("events") or [])

    def get_indicator_state(self, tag: str) -> dict[str, Any]:
        """Whether an indicator is shown: `thinking`, `live` or `prior`, also by the names of its widgets."""
        return {"tag": tag, "shown": self._diagnostic(tag) is True}

    def get_node_status(self, node_tag: str) -> Any:
        """The status of a node: its field if there is one, else the indicator of that name."""
        value = self.get_value(node_tag)
        return self._diagnostic(node_tag) if value is None else value

    def _diagnostic(self, tag: str) -> Any:
        diagnostics = _object(self._make_request("GET", "/api/gui/diagnostics"))
        return diagnostics.get(_INDICATORS.get(tag, tag))

    # The console

    def set_value(self, item: str, value: Any) -> dict[str, Any]:
        """Sets a settable field."""
        return self.post_gui({"action": "set_value", "item": item, "value": value})

    def click(self, item: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Clicks a button; `user_data` is what it is handed."""
        task: dict[str, Any] = {"action": "click", "item": item}
        if args:
            task["args"] = list(args)
        user_data = kwargs.pop("user_data", None)
        if user_data is not None:
            task["user_data"] = user_data
        if kwargs:
            task["kwargs"] = kwargs
        return self.post_gui(task)

    def select_tab(self, tab_bar: str, tab: str) -> dict[str, Any]:
        """Shows a tab."""
        return self.post_gui({"action": "select_tab", "tab_bar": tab_bar, "tab": tab})

    def select_list_item(self, listbox: str, item_value: str) -> dict[str, Any]:
        """Selects an item of a list."""
        return self.post_gui({"action": "select_list_item", "listbox": listbox, "item_value": item_value})

    def push_event(self, event_type: str, payload: Any) -> dict[str, Any]:
        """Pushes an event to everybody who listens."""
        return self.post_gui({"action": "push_event", "event_type": event_type, "payload": payload})

    def post_gui(self, gui_data: dict[str, Any]) -> dict[str, Any]:
        """Sends a task for the console as it is."""
        return _object(self._make_request("POST", "/api/gui", gui_data))

    def reset_session(self) -> dict[str, Any]:
        """Clicks the button that begins a new discussion."""
        return self.click("btn_reset_session")

    # Waiting

    def wait_for_event(self, event_type: str, timeout: float = 5) -> Optional[dict[str, Any]]:
        """Waits for an event of a kind; None if none came within this time. Events of other kinds are taken
        as well."""

        def look() -> Optional[dict[str, Any]]:
            events = self.get_events()
            return next((event for event in events if event_type in (event.get("kind"), event.get("type"))), None)

        return _until(timeout, look)

    def wait_for_value(self, item: str, expected: Any, timeout: float = 5) -> bool:
        """Waits until a field has a value; false if it had not within this time."""
        return _until(timeout, lambda: True if self.get_value(item) == expected else None) is not None

    # The person

    def request_confirmation(self, tool_name: str, args: dict[str, Any]) -> Any:
        """Asks the person whether a tool may be used, and waits for the answer."""
        question = {"type": "tool_approval", "tool": tool_name, "args": args}
        return _object(self._make_request("POST", "/api/ask", question, timeout=None)).get("response")


def _until(timeout: float, look: Callable[[], Optional[_T]]) -> Optional[_T]:
    """Looks with growing pauses until there is something, for at most this long."""
    end, pause = time.monotonic() + timeout, _POLL
    while True:
        found = look()
        if found is not None:
            return found
        left = end - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_DELAY)


def _object(answer: Any) -> dict[str, Any]:
    if isinstance(answer, dict):
        return answer
    raise ApiHookError("the answer is not an object", 200, "upstream")


def _refusal(status: int, text: bytes) -> ApiHookError:
    try:
        error = json.loads(text)["error"]
    except (ValueError, TypeError, KeyError, LookupError):
        error = text.decode(errors="replace").strip()[:200]
    if isinstance(error, dict):
        return ApiHookError(f"status {status}: {error.get('message')}", status, str(error.get("kind")), error.get("hint"))
    hint = "set TECTUM_TOKEN to the token of that Tectum" if status == 401 else None
    return ApiHookError(f"status {status}: {error}", status, "permission" if status in (401, 403) else "upstream", hint)


def _state_directory() -> Optional[Path]:
    """Where Tectum keeps what outlives it."""
    own = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(own):
        return Path(own) / "tectum"
    home = os.environ.get("HOME", "")
    return Path(home) / ".local/state/tectum" if os.path.isabs(home) else None


def _kept_token(state: Optional[Path]) -> Optional[str]:
    try:
        return (state / "token").read_text().strip() or None if state else None
    except OSError:
        return None


class _SocketConnection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connection(url: str, timeout: Optional[float]) -> http.client.HTTPConnection:
    """A connection, not opened yet, to an address `http://HOST:PORT` or `unix:PATH`."""
    if url.startswith("unix:"):
        return _SocketConnection(url[len("unix:") :], timeout)
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or parts.path:
        raise ValueError(f"{url!r} is not the address of a Tectum, such as {USUAL_URL}")
    return http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)


def _serving(state: Optional[Path]) -> Optional[str]:
    """The socket of the Tectum whose directory is the nearest one around this; of several the one that
    listens on HTTP, which outlives a client."""
    here = os.path.realpath(".")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    runtime = runtime if os.path.isabs(runtime) else f"/run/user/{os.geteuid()}"
    folders = [Path(runtime) / "tectum"] + ([state / "houses"] if state else [])
    found = []
    for path in (path for folder in folders if _own(folder) for path in sorted(folder.glob("*.api"))):
        connection = _connection(f"unix:{path}", timeout=5)
        try:
            connection.request("GET", "/api/house")
            house = json.loads(connection.getresponse().read())
            around = os.path.realpath(house["project"])
            if os.path.commonpath([here, around]) == around:
                found.append((len(around), house.get("transport") == "http", f"unix:{path}"))
        except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError):
            continue
        finally:
            connection.close()
    return max(found)[2] if found else None


def _own(folder: Path) -> bool:
    """True for a folder that this user alone may enter."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return about.st_uid == os.geteuid() and about.st_mode & 0o077 == 0
