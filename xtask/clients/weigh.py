"""What of the server's answer reached the model, and what it weighs against the plain text."""

import json
from dataclasses import dataclass


@dataclass
class Weight:
    """One answer as the model was given it."""

    form: str      # text, json, both, or what became of it
    given: int     # bytes of it that come from the server
    plain: int     # bytes of the text alone
    frame: int     # bytes that the agent put around it

    def __str__(self):
        ratio = f" ×{self.given / self.plain:.2f}" if self.plain else ""
        return f"{self.form}{ratio}, {self.given} B" + (f" + {self.frame} B of its own" if self.frame else "")


def texts(result):
    return [block["text"] for block in result.get("content") or [] if block.get("type") == "text"]


def spellings(value):
    """A value as JSON in the ways that agents write it."""
    for ascii_only in (False, True):
        for style in ({"separators": (",", ":")}, {}, {"indent": 2}):
            yield json.dumps(value, ensure_ascii=ascii_only, **style)


def escapes(text):
    """A text as it stands, inside JSON, and inside JSON that stands in JSON."""
    for word in ("", "escaped ", "escaped twice "):
        yield word, text
        text = json.dumps(text, ensure_ascii=False)[1:-1]


def weigh(given, result):
    """Takes the parts of a result out of what the model was given; what is left is the agent's own."""
    parts, data = [text.strip() for text in texts(result)], result.get("structuredContent")
    plain, rest, ours = sum(len(part.encode()) for part in parts), given, 0

    def take(part, sent=1):
        """How a part is spelled in the rest, and whether more often than it was sent; all of them are taken out."""
        nonlocal rest, ours
        for word, spelling in escapes(part) if part else ():
            count = rest.count(spelling)
            if count:
                rest, ours = rest.replace(spelling, ""), ours + count * len(spelling.encode())
                return f"{word}{{}}" + (f" {count} times" if count > sent else "")
        return None

    as_json = [] if data is None else list(spellings(data))
    alike = any(spelling in parts for spelling in as_json)
    has_data = None if alike else next(filter(None, (take(spelling) for spelling in as_json)), None)
    has_texts = [take(part, parts.count(part)) for part in dict.fromkeys(parts)]
    has_text = has_texts[0] if has_texts and all(has_texts) else None
    has_meta = next(filter(None, (take(spelling) for spelling in spellings(result.get("_meta") or None))), None)
    forms = [form.format(name) for form, name in ((has_text, "text"), (has_data, "json"), (has_meta, "our _meta")) if form]
    if has_text is None and has_data is None:
        starts = [("text", part[:200]) for part in parts] + [("json", spelling[:200]) for spelling in as_json]
        form = next((f"{form} **cut**" for form, start in starts if start in given), "**neither**")
        return Weight(form, len(given.encode()), plain, 0)
    return Weight("both" if forms == ["text", "json"] else " + ".join(forms), ours, plain, len(rest.strip().encode()))
