"""The four model APIs that coding agents speak: reads what a request shows a model, writes an answer.

A dialect has `offered` (tools a model may call), `results` (what it is given for each call), `found`
(tools that one search brought) and `answer` (the reply, whole and as events). Calls are `(id, name,
arguments)`; a tool in a namespace is called `namespace/name`.
"""

import json
import re

USED = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}


def as_text(content):
    """Text as a model reads it, whatever shape an API gives it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part, dict) and "text" in part)
    return json.dumps(content, ensure_ascii=False)


class Messages:
    """Anthropic Messages (Claude Code)."""

    ending = "/messages"

    def offered(self, body):
        return [tool["name"] for tool in body.get("tools") or []]

    def parts(self, body):
        said = [m["content"] for m in body.get("messages") or [] if m["role"] == "user" and isinstance(m["content"], list)]
        return [part for content in said for part in content if part["type"] == "tool_result"]

    def results(self, body):
        return {part["tool_use_id"]: as_text(part.get("content") or "") for part in self.parts(body)}

    def found(self, body, call):
        brought = [part for part in self.parts(body) if part["tool_use_id"] == call]
        return re.findall(r'"tool_name": "([^"]+)"', json.dumps(brought))

    def answer(self, body, text, calls):
        parts = [{"type": "tool_use", "id": call, "name": name, "input": given} for call, name, given in calls]
        parts = parts or [{"type": "text", "text": text}]
        why = "tool_use" if calls else "end_turn"
        usage = {"input_tokens": 9, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        whole = {"type": "message", "id": "msg_scripted", "role": "assistant", "model": body.get("model"), "content": parts,
                 "stop_reason": why, "stop_sequence": None, "usage": usage}
        events = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
        for index, part in enumerate(parts):
            if calls:
                empty, delta = {**part, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
            else:
                empty, delta = {**part, "text": ""}, {"type": "text_delta", "text": text}
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        events.append({"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage})
        return whole, [*events, {"type": "message_stop"}]


class Responses:
    """OpenAI Responses (Codex). Its search is an item of its own kind, and its tools stand in namespaces."""

    ending = "/responses"

    def names(self, tools):
        for tool in tools:
            if tool.get("type") == "namespace":
                yield from (f"{tool['name']}/{inner['name']}" for inner in tool.get("tools") or [])
            else:
                yield tool.get("name") or tool["type"]

    def offered(self, body):
        return list(self.names(body.get("tools") or []))

    def items(self, body):
        items = body.get("input") or []
        return items if isinstance(items, list) else []

    def results(self, body):
        return {item["call_id"]: as_text(item.get("output", item.get("tools")))
                for item in self.items(body) if item.get("type", "").endswith("_output")}

    def found(self, body, call):
        return [name for item in self.items(body) if item.get("type") == "tool_search_output" and item["call_id"] == call
                for name in self.names(item.get("tools") or [])]

    def item(self, call, name, given):
        if name == "tool_search":
            return {"type": "tool_search_call", "id": f"item_{call}", "call_id": call, "execution": "client",
                    "status": "completed", "arguments": given}
        space, _, name = name.rpartition("/")
        item = {"type": "function_call", "id": f"item_{call}", "call_id": call, "name": name, "status": "completed",
                "arguments": json.dumps(given)}
        return {**item, "namespace": space} if space else item

    def answer(self, body, text, calls):
        items = [self.item(*call) for call in calls] or [
            {"type": "message", "id": "item_text", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": text, "annotations": []}]}]
        whole = {"id": "resp_scripted", "object": "response", "created_at": 0, "model": body.get("model"), "status": "completed",
                 "output": items, "usage": {**USED, "input_tokens_details": {"cached_tokens": 0},
                                            "output_tokens_details": {"reasoning_tokens": 0}}}
        events = [{"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}}]
        for index, item in enumerate(items):
            events.append({"type": "response.output_item.added", "output_index": index, "item": item})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        return whole, [*events, {"type": "response.completed", "response": whole}]


class Chat:
    """OpenAI chat completions (opencode, Qwen Code)."""

    ending = "/chat/completions"

    def offered(self, body):
        return [tool["function"]["name"] for tool in body.get("tools") or []]

    def results(self, body):
        return {m["tool_call_id"]: as_text(m["content"]) for m in body.get("messages") or [] if m["role"] == "tool"}

    def found(self, body, call):
        return re.findall(r'"name": ?"([^"]+)"', self.results(body).get(call, ""))

    def answer(self, body, text, calls):
        spelled = [{"index": index, "id": call, "type": "function",
                    "function": {"name": name, "arguments": json.dumps(given)}}
                   for index, (call, name, given) in enumerate(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": spelled} if calls else {"role": "assistant", "content": text}
        why = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        head = {"id": "chat_scripted", "created": 0, "model": body.get("model")}
        whole = {**head, "object": "chat.completion", "usage": usage,
                 "choices": [{"index": 0, "message": message, "finish_reason": why}]}
        head["object"] = "chat.completion.chunk"
        return whole, [{**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                       {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
                       {**head, "choices": [], "usage": usage}, "[DONE]"]


class Gemini:
    """Gemini's generateContent (Gemini CLI)."""

    ending = "enerateContent"

    def offered(self, body):
        return [one["name"] for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]

    def results(self, body):
        parts = [part for content in body.get("contents") or [] for part in content.get("parts") or []]
        given = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return {one.get("id", one["name"]): self.text(one["response"]) for one in given}

    def text(self, response):
        return response["output"] if isinstance(response.get("output"), str) and len(response) == 1 else as_text(response)

    def found(self, body, call):
        return []

    def answer(self, body, text, calls):
        parts = [{"functionCall": {"id": call, "name": name, "args": given}} for call, name, given in calls] or [{"text": text}]
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10}
        whole = {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
                 "usageMetadata": usage, "modelVersion": "scripted"}
        return whole, [whole]


ALL = (Messages(), Responses(), Chat(), Gemini())


def spoken_at(path):
    """The dialect of an address, or nothing."""
    return next((dialect for dialect in ALL if path.endswith(dialect.ending)), None)
