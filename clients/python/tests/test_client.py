"""The client against a real Tectum, which whoever runs this has started for the present directory:
`TECTUM_URL` and `TECTUM_TOKEN` say where it listens."""

import json
import os
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import tectum_client
from tectum_client import USUAL_URL, ApiHookClient, ApiHookError


class Real(unittest.TestCase):
    """What a running Tectum answers."""

    def setUp(self):
        self.client = ApiHookClient()

    def test_it_is_there(self):
        self.assertTrue(self.client.wait_for_server())
        self.assertEqual(self.client.get_status(), {"status": "ok"})

    def test_it_is_found_by_its_directory(self):
        with mock.patch.dict(os.environ):
            del os.environ["TECTUM_URL"], os.environ["TECTUM_TOKEN"]
            found = ApiHookClient()
            self.assertTrue(found.base_url.startswith("unix:"), found.base_url)
            self.assertEqual(found.get_status(), {"status": "ok"})
            os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = "/nowhere"
            self.assertEqual(ApiHookClient().base_url, USUAL_URL)

    def test_what_is_set_and_pushed_comes_back(self):
        self.client.set_value("colour of the bar", ["green"])
        self.assertTrue(self.client.wait_for_value("colour of the bar", ["green"]))
        self.assertEqual(self.client.get_text_value("colour of the bar"), '["green"]')
        self.assertIsNone(self.client.get_value("nothing of the kind"))
        self.client.push_event("mine", {"n": 1})
        self.assertEqual(self.client.wait_for_event("mine", timeout=60)["data"], {"n": 1})
        self.client.post_session([{"role": "user", "content": "x"}])
        self.assertEqual(self.client.get_session()["session"]["entries"], [{"role": "user", "content": "x"}])
        self.client.reset_session()
        self.assertEqual(self.client.get_session()["session"]["entries"], [])
        self.assertEqual(self.client.get_mma_status()["mma_status"], "idle")
        self.assertEqual(self.client.get_indicator_state("thinking")["shown"], False)
        self.assertIn("project", self.client.get_project())
        self.assertIn("performance", self.client.get_performance())

    def test_a_refusal_says_what_to_do(self):
        with self.assertRaises(ApiHookError) as caught:
            self.client._make_request("GET", "/api/nonsense")
        self.assertEqual((caught.exception.status, caught.exception.kind), (404, "not_found"))
        self.assertTrue(caught.exception.hint)
        with self.assertRaises(ApiHookError) as caught:
            ApiHookClient(token="ffeeddccbbaa99887766554433221100").get_status()
        self.assertEqual(caught.exception.status, 401)


class Recorder(BaseHTTPRequestHandler):
    """Answers each path from a table and keeps what was asked."""

    def _answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, body))
        answers = self.server.answers.get(self.path, [{"status": "queued"}])
        text = json.dumps(answers.pop(0) if len(answers) > 1 else answers[0]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = _answer

    def log_message(self, *args):
        pass


class Table(unittest.TestCase):
    """What each method asks for, and what it makes of the answer."""

    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
        self.server.asked, self.server.answers = [], {}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.client = ApiHookClient(f"http://127.0.0.1:{self.server.server_port}", token="t")

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_every_method(self):
        gui = lambda **task: ("POST", "/api/gui", task)
        client = self.client
        self.server.answers.update({
            "/api/gui/value/a%20b%2Fc": [{"value": 3}],
            "/api/gui/value/x": [{"value": None}],
            "/api/gui/diagnostics": [{"thinking": True, "live": False, "prior": False}],
            "/api/events": [{"events": []}, {"events": [{"kind": "other"}, {"kind": "mine", "data": 1}]}],
            "/api/ask": [{"status": "ok", "response": {"approved": True}}],
        })
        for call, asked, answer in [
            (lambda: client.get_project(), [("GET", "/api/project", None)], {"status": "queued"}),
            (lambda: client.post_project({"a": 1}), [("POST", "/api/project", {"project": {"a": 1}})], {"status": "queued"}),
            (lambda: client.get_session(), [("GET", "/api/session", None)], {"status": "queued"}),
            (lambda: client.post_session([1]), [("POST", "/api/session", {"session": {"entries": [1]}})], {"status": "queued"}),
            (lambda: client.get_mma_status(), [("GET", "/api/gui/mma_status", None)], {"status": "queued"}),
            (lambda: client.get_performance(), [("GET", "/api/performance", None)], {"status": "queued"}),
            (lambda: client.get_value("a b/c"), [("GET", "/api/gui/value/a%20b%2Fc", None)], 3),
            (lambda: client.get_text_value("a b/c"), [("GET", "/api/gui/value/a%20b%2Fc", None)], "3"),
            (lambda: client.get_text_value("x"), [("GET", "/api/gui/value/x", None)], None),
            (lambda: client.get_indicator_state("thinking_indicator"), [("GET", "/api/gui/diagnostics", None)],
             {"tag": "thinking_indicator", "shown": True}),
            (lambda: client.get_indicator_state("nothing"), [("GET", "/api/gui/diagnostics", None)],
             {"tag": "nothing", "shown": False}),
            (lambda: client.get_node_status("a b/c"), [("GET", "/api/gui/value/a%20b%2Fc", None)], 3),
            (lambda: client.set_value("x", [1]), [gui(action="set_value", item="x", value=[1])], {"status": "queued"}),
            (lambda: client.click("b", user_data=5), [gui(action="click", item="b", user_data=5)], {"status": "queued"}),
            (lambda: client.select_tab("bar", "t"), [gui(action="select_tab", tab_bar="bar", tab="t")], {"status": "queued"}),
            (lambda: client.select_list_item("l", "v"), [gui(action="select_list_item", listbox="l", item_value="v")],
             {"status": "queued"}),
            (lambda: client.push_event("e", {"p": 1}), [gui(action="push_event", event_type="e", payload={"p": 1})],
             {"status": "queued"}),
            (lambda: client.reset_session(), [gui(action="click", item="btn_reset_session")], {"status": "queued"}),
            (lambda: client.wait_for_event("mine"), [("GET", "/api/events", None)] * 2, {"kind": "mine", "data": 1}),
            (lambda: client.wait_for_value("a b/c", 3), [("GET", "/api/gui/value/a%20b%2Fc", None)], True),
            (lambda: client.wait_for_value("x", 1, timeout=0), [("GET", "/api/gui/value/x", None)], False),
            (lambda: client.request_confirmation("t", {"a": 1}),
             [("POST", "/api/ask", {"type": "tool_approval", "tool": "t", "args": {"a": 1}})], {"approved": True}),
        ]:
            self.server.asked.clear()
            self.assertEqual(call(), answer)
            self.assertEqual(self.server.asked, asked)

    def test_it_tries_again_while_nobody_listens(self):
        held = socket.socket()
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with mock.patch.object(tectum_client.time, "sleep") as slept:
            with self.assertRaises(ApiHookError) as caught:
                ApiHookClient(url).get_status()
        self.assertEqual([call.args[0] for call in slept.call_args_list], [0.2, 0.4, 0.8, 1.6, 2.0])
        self.assertEqual((caught.exception.status, caught.exception.kind), (0, "unreachable"))
        self.assertFalse(ApiHookClient(url).wait_for_server(timeout=0))
        held.close()

    def test_what_is_no_address_is_refused(self):
        for url in ["https://x", "127.0.0.1:8999", "http://", "http://x/path"]:
            with self.assertRaises(ValueError):
                ApiHookClient(url)


class Packaged(unittest.TestCase):
    def test_it_says_that_it_is_typed(self):
        self.assertTrue((Path(tectum_client.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
