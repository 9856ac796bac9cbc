#!/usr/bin/env python3
"""Make jinja-language.json: what Jinja2 renders for many small templates.

Run with Python 3.11 and Jinja2 3.1; set up as the transformers library sets it up, except
that templates may change lists and dicts (transformers' sandbox forbids that, models ship
it all the same). The templates are in jinja-language.txt, one a line, with a line break
written as \u23ce and a carriage return as \u240d. In the result the first object is the
context, then one object a line: {"template", "expected" or "error"}; an error stands for
any failure, its text is Python's and only for the reader.
"""

import datetime
import json
import os

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_run")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _run(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(format):
    return datetime.datetime(2026, 1, 15, 12, 34, 56).strftime(format)


env = jinja2.sandbox.SandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = raise_exception
env.globals["strftime_now"] = strftime_now

CONTEXT = {
    "s": "Hello, World", "u": "  é 你好 😀 ß  ", "empty": "", "n": 7, "z": 0, "neg": -7,
    "f": 2.5, "one": 1.0, "big": 1e16, "small": 1e-7, "t": True, "no": False, "nil": None,
    "l": [3, 1, 2], "words": ["banana", "Apple", "cherry", "apple"],
    "d": {"b": 1, "a": 2, "C": 3}, "nested": {"x": {"y": [10, {"z": "deep"}]}},
    "people": [{"name": "Ann", "age": 30, "city": "Rome"},
               {"name": "bob", "age": 25, "city": "Oslo"},
               {"name": "Cid", "age": 30, "city": "rome"}, {"name": "dan", "city": None}],
    "lines": "one\ntwo\n\nthree\r\nfour", "html": "<b>&\"'</b>", "e": [], "ed": {},
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
                 {"role": "assistant", "content": "A", "items": 5}],
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": [{"v": 3, "kids": []}]}, {"v": 4, "kids": []}]}],
}

def main():
    here = os.path.dirname(os.path.abspath(__file__))
    rows = [json.dumps({"context": CONTEXT}, ensure_ascii=False)]
    with open(os.path.join(here, "jinja-language.txt"), newline="\n") as f:
        lines = f.read().split("\n")
    for line in lines:
        if not line or line.startswith("# "):
            continue
        row = {"template": line.replace("⏎", "\n").replace("␍", "\r")}
        try:
            row["expected"] = env.from_string(row["template"]).render(**CONTEXT)
        except Exception as e:
            row["error"] = f"{type(e).__name__}: {e}"[:200]
        rows.append(json.dumps(row, ensure_ascii=False))
    with open(os.path.join(here, "jinja-language.json"), "w") as f:
        f.write("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
