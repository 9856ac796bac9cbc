#!/usr/bin/env python3
"""Make the cases in this folder: make.py, run here. What each case means is in README.md.

The texts are built from the markers that the chat templates in ../shared/templates write,
by the small functions below; what is expected is stated beside them. Nothing here comes
from the program that is tested.
"""
import json

S = lambda name: {"special": name}
TYPES = {"pattern": "a\"b\\c\n\té<&>'😀", "max": 3, "ratio": 2.5, "one": 1.0,
         "big": 12345678901234567, "flags": ["a", "b"], "opts": {"deep": True, "name": None}}
LONG = "123456789012345678901234567890"


def dumps(v):
    return json.dumps(v, ensure_ascii=False)


class Raw(str):
    """JSON text that is to stand in the file as it is."""


def good(name, args, id=None):
    c = {"name": name, "arguments": args}
    if id is not None:
        c["id"] = id
    return c


def bad(raw, at, error=None, name=None, truncated=False):
    c = {"raw": raw, "error_at": at, "status": "truncated" if truncated else "malformed"}
    if error:
        c["error"] = error
    if name:
        c["name"] = name
    return c


def encode(v):
    if isinstance(v, Raw):
        return str(v)
    if isinstance(v, dict):
        return "{" + ", ".join(dumps(k) + ": " + encode(x) for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(encode(x) for x in v) + "]"
    return dumps(v)


class Family:
    def __init__(self, syntax, origin):
        self.syntax, self.origin, self.cases = syntax, origin, []

    def case(self, name, text, reasoning="", content="", calls=(), start="response",
             end="eof", spelled=False):
        """spelled: markers in the text are spelled there, they are no tokens."""
        chunks = text if isinstance(text, list) else [text]
        c = {"name": name, "start": start, "chunks": chunks}
        if spelled:
            c["spelled"] = True
        c["expected"] = {"reasoning": reasoning, "content": content,
                         "tool_calls": list(calls), "end": end}
        self.cases.append(c)

    def write(self):
        with open(self.syntax + ".jsonl", "w", encoding="utf-8") as f:
            f.write(encode({"syntax": self.syntax, "origin": self.origin}) + "\n")
            for c in self.cases:
                f.write(encode(c) + "\n")


def thinking(f, o, c, gap="\n\n", inner="\n", tool=None, start=True):
    """Thoughts between o and c. tool: syntax that is text inside of one."""
    f.case("an answer and nothing else", "Hello!", content="Hello!")
    f.case("nothing at all", "")
    f.case("a thought, then an answer", f"{o}{inner}17*3 = 51.{inner}{c}{gap}51",
           reasoning="17*3 = 51.", content="51")
    if start:
        f.case("the prompt opened the thought", f"{inner}17*3 = 51.{inner}{c}{gap}51",
               reasoning="17*3 = 51.", content="51", start="think")
        f.case("a thought that does not end", "still thinking", reasoning="still thinking",
               start="think")
    f.case("an empty thought", f"{o}{inner}{inner}{c}{gap}51", content="51")
    f.case("half a closing marker", o + "a" + c[:-1], reasoning="a" + c[:-1])
    if tool:
        f.case("tool syntax inside a thought is thinking",
               f"{o}I could write {tool} here.{c}No.",
               reasoning=f"I could write {tool} here.", content="No.", spelled=True)


def calling(f, block, one, gap="\n", types=TYPES, quoted=True, after=True, dup=None,
            ids=lambda i: None):
    """block(list of one(name, args)) is how calls are written."""
    def calls(*c):
        return [good(n, a, ids(i)) for i, (n, a) in enumerate(c)]
    def text(*c):
        return block([one(n, a) for n, a in c])
    paris = ("get_weather", {"city": "Paris"})
    rome = ("get_weather", {"city": "Rome"})
    f.case("one call", text(paris), calls=calls(paris))
    f.case("text, then a call", "Let me check." + gap + text(paris),
           content="Let me check.", calls=calls(paris))
    f.case("two calls", text(paris, rome), calls=calls(paris, rome))
    f.case("no arguments", text(("get_time", {})), calls=calls(("get_time", {})))
    f.case("arguments of all types", text(("search_files", types)),
           calls=calls(("search_files", types)))
    if after:
        f.case("a call, then text", text(paris) + gap + "Done.", content="Done.",
               calls=calls(paris))
    if quoted:
        t = text(paris)
        f.case("a call in a code block is text", "Like this:\n```\n" + t + "\n```\nSo.",
               content="Like this:\n```\n" + t + "\n```\nSo.", spelled=True)
        f.case("a marker in a code span is text",
               "Write `" + f.opener + "` for a call.",
               content="Write `" + f.opener + "` for a call.", spelled=True)
        f.case("a marker between quotation marks is text",
               "It begins with \"" + f.opener + "\" then.",
               content="It begins with \"" + f.opener + "\" then.", spelled=True)


FAMILIES = []


def family(syntax, origin, opener=None):
    f = Family(syntax, origin)
    f.opener = opener
    FAMILIES.append(f)
    return f


def json_one(n, a):
    return dumps({"name": n, "arguments": a})


# ---- thinking only ----

f = family("think", "jinja/llama-cpp-rwkv-world.jinja: <think>, </think>")
thinking(f, "<think>", "</think>", tool="<tool_call>{}</tool_call>")
f.case("white space before the thought", " \n<think>a</think>b", reasoning="a", content="b")
f.case("a second thought is text", "<think>a</think>b<think>c</think>d", reasoning="a",
       content="b<think>c</think>d")
f.case("tool syntax in the answer is text", "<tool_call>{}</tool_call>",
       content="<tool_call>{}</tool_call>")
f.case("the prompt opened it, and the model repeats the marker",
       "<think>\na</think>b", reasoning="a", content="b", start="think")
f.case("a closing marker comes first: there was no thought", "</think>\n\nb", content="b")
f.case("the end of the turn", ["<think>a</think>b", S("<|im_end|>")], reasoning="a",
       content="b", end="message")
f.case("brackets", "<<think>> a < b <t", content="<<think>> a < b <t")

f = family("thought", "jinja-gguf/exaone-deep-2.4b.jinja: <thought>, </thought>")
thinking(f, "<thought>", "</thought>")
f.case("<think> is no marker here", "<think>a</think>b", content="<think>a</think>b")
f.case("the end of the turn", "<thought>a</thought>b[|endofturn|]", reasoning="a",
       content="b", end="message")
f.case("half an opening marker", "<though", content="<though")
f.case("newlines inside", "<thought>a\n\nb</thought>c", reasoning="a\n\nb", content="c")

f = family("marco", "jinja-gguf/marco-o1-7b.jinja: <Thought>, <Output>")
thinking(f, "<Thought>", "</Thought>")
f.case("the output has markers", "<Thought>\na\n</Thought>\n<Output>\nb\n</Output>",
       reasoning="a", content="b")
f.case("the output is not closed", "<Thought>a</Thought><Output>b", reasoning="a",
       content="b")
f.case("a closing marker that nothing opened", "b</Output>", content="b</Output>")
f.case("text behind the output", "<Output>a</Output>\nb", content="ab")

# ---- JSON ----

f = family("hermes", "jinja/Qwen-Qwen3-0.6B.jinja, NousResearch-Hermes-3..., "
           "ibm-granite-granite-4.0, Bielik, MiMo-VL, Reka-Edge, rnj-1: <tool_call>",
           "<tool_call>")
HERMES = lambda cs: "\n".join(f"<tool_call>\n{c}\n</tool_call>" for c in cs)
thinking(f, "<think>", "</think>", tool=HERMES([json_one("f", {})]))
calling(f, HERMES, json_one)
f.case("the markers are tokens",
       [S("<think>"), "\nHm.\n", S("</think>"), "\n\n", S("<tool_call>"),
        "\n{\"name\": \"f\", \"arguments\": {}}\n", S("</tool_call>"), S("<|im_end|>")],
       reasoning="Hm.", calls=[good("f", {})], end="message")
f.case("a token in a thought is thinking",
       [S("<think>"), "a ", S("<tool_call>"), " b", S("</think>"), "c"],
       reasoning="a <tool_call> b", content="c")
f.case("long numbers keep their digits",
       '<tool_call>{"name": "f", "arguments": {"n": %s, "x": 1.50, "e": 1e3}}</tool_call>' % LONG,
       calls=[good("f", Raw('{"n": %s, "x": 1.50, "e": 1e3}' % LONG))])
f.case("the closing marker inside a string",
       '<tool_call>{"name": "f", "arguments": {"t": "a\\"</tool_call>"}}</tool_call>b',
       content="b", calls=[good("f", {"t": "a\"</tool_call>"})], spelled=True)
f.case("parameters, an id, arguments in a string",
       '<tool_call>{"id": "x1", "name": "f", "parameters": {"a": 1}}</tool_call>'
       '<tool_call>{"name": "g", "arguments": "{\\"b\\": 2}"}</tool_call>',
       calls=[good("f", {"a": 1}, "x1"), good("g", {"b": 2}, "call_1")])
f.case("as in the OpenAI interface",
       '<tool_call>{"type": "function", "function": {"name": "f", "arguments": "{}"}}</tool_call>',
       calls=[good("f", {})])
f.case("two calls in one", '<tool_call>{"name": "f"}\n{"name": "g"}</tool_call>',
       calls=[good("f", {}), good("g", {})])
f.case("a closing marker was forgotten",
       '<tool_call>{"name": "f"}\n<tool_call>{"name": "g"}</tool_call>',
       calls=[good("f", {}), good("g", {})])
f.case("broken JSON", '<tool_call>{"name": "f", "arguments": {"a": }}</tool_call>b',
       content="b", calls=[bad('{"name": "f", "arguments": {"a": }}', 33)])
f.case("no JSON at all", "<tool_call>not json</tool_call>b", content="b",
       calls=[bad("not json", 0)])
f.case("a bracket too many", '<tool_call>{"name": "f", "arguments": {}}}</tool_call>',
       calls=[bad('{"name": "f", "arguments": {}}}', 30)])
f.case("an empty call", "a<tool_call></tool_call>", content="a", calls=[bad("", 0)])
f.case("no name", '<tool_call>{"arguments": {}}</tool_call>',
       calls=[bad('{"arguments": {}}', 0)])
f.case("arguments that are no object", '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
       calls=[bad('{"name": "f", "arguments": [1]}', 27, name="f")])
f.case("cut short", 'a\n<tool_call>\n{"name": "f", "argu', content="a",
       calls=[bad('\n{"name": "f", "argu', 20, truncated=True)])
f.case("the turn ends inside a call", ['<tool_call>{"name": "f"', S("<|im_end|>")],
       calls=[bad('{"name": "f"', 12, truncated=True)], end="message")
f.case("a marker in prose", "The <tool_call> tag opens a call.",
       content="The <tool_call> tag opens a call.", spelled=True)
f.case("a marker in prose, then a call",
       'The <tool_call> tag:\n<tool_call>{"name": "f"}</tool_call>',
       content="The <tool_call> tag:", calls=[good("f", {})], spelled=True)
f.case("a code block that is closed hides nothing",
       "```\ncode\n```\n" + HERMES([json_one("f", {})]), content="```\ncode\n```",
       calls=[good("f", {})])
f.case("a lone backtick hides no call on the next line",
       "The ` key.\n" + HERMES([json_one("f", {})]), content="The ` key.",
       calls=[good("f", {})])
f.case("single quotation marks", "It's '<tool_call>' there.",
       content="It's '<tool_call>' there.", spelled=True)
f.case("calls written in tags",
       "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
       calls=[good("f", {"a": 1})])
f.case("bytes that are not UTF-8 in a call",
       ["<tool_call>{\"name\": \"", {"hex": "ff"}, "\"}</tool_call>"],
       calls=[bad({"hex": "7b226e616d65223a2022ff227d"}, 10)])
f.case("bytes that are not UTF-8 in the answer", ["a", {"hex": "ffc3"}],
       content={"hex": "61ffc3"})

f = family("nemotron", "jinja/NVIDIA-Nemotron-Nano-v2.jinja: <TOOLCALL>[...]</TOOLCALL>",
           "<TOOLCALL>")
NEMO = lambda cs: "<TOOLCALL>[" + ", ".join(cs) + "]</TOOLCALL>"
thinking(f, "<think>", "</think>", tool=NEMO([json_one("f", {})]))
calling(f, NEMO, json_one)
f.case("a list that breaks off in its second call",
       '<TOOLCALL>[{"name": "f", "arguments": {}}, {"name": ]</TOOLCALL>',
       calls=[good("f", {}), bad(', {"name": ]', 11)])
f.case("cut short", '<TOOLCALL>[{"name": "f", "arguments": {}}, {"na',
       calls=[good("f", {}), bad(', {"na', 6, truncated=True)])
f.case("no list", '<TOOLCALL>{"name": "f", "arguments": {}}</TOOLCALL>', calls=[good("f", {})])
f.case("an empty list", "<TOOLCALL>[]</TOOLCALL>", calls=[bad("[]", 0)])
f.case("something else in the list", '<TOOLCALL>[1]</TOOLCALL>', calls=[bad("1", 0)])
f.case("the end of the turn", [NEMO([json_one("f", {})]), S("<SPECIAL_12>")],
       calls=[good("f", {})], end="message")

f = family("apriel", "jinja/Apriel-1.6-15b-Thinker-fixed.jinja, unsloth-Apriel-1.5.jinja: "
           "[BEGIN FINAL RESPONSE], <tool_calls>[...]</tool_calls>", "<tool_calls>")
def apriel_one(n, a, ids=iter(range(99))):
    return json.dumps({"name": n, "arguments": a}, ensure_ascii=False)
APRIEL = lambda cs: "<tool_calls>[" + ", ".join(cs) + "]</tool_calls>"
calling(f, APRIEL, json_one)
f.case("the prompt began the thought", "17*3 = 51.\n[BEGIN FINAL RESPONSE]\n51",
       reasoning="17*3 = 51.", content="51", start="think")
f.case("the sentence that begins it", "Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]\nb",
       reasoning="a", content="b")
f.case("the response is closed", "a\n[BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]",
       reasoning="a", content="b", start="think")
f.case("a closing marker that nothing opened", "b\n[END FINAL RESPONSE]",
       content="b\n[END FINAL RESPONSE]")
f.case("tool syntax inside a thought is thinking",
       "I could write <tool_calls>[] here.\n[BEGIN FINAL RESPONSE]\nNo.",
       reasoning="I could write <tool_calls>[] here.", content="No.", start="think")
f.case("a call instead of a thought", '<tool_calls>[{"name": "f", "arguments": {}, "id": "a1"}]</tool_calls>',
       calls=[good("f", {}, "a1")], start="think")
f.case("a call behind the thought", "a\n[BEGIN FINAL RESPONSE]\n" + APRIEL([json_one("f", {})]),
       reasoning="a", calls=[good("f", {})], start="think")
f.case("brackets in a thought", "a [b] [BEGIN x]\n[BEGIN FINAL RESPONSE]c",
       reasoning="a [b] [BEGIN x]", content="c", start="think")
f.case("cut short", '<tool_calls>[{"name": "f"', calls=[bad('[{"name": "f"', 13, truncated=True)])

f = family("apertus", "jinja/Apertus-8B-Instruct.jinja: <|inner_prefix|>, "
           "<|tools_prefix|>[{\"NAME\": {...}}]<|tools_suffix|>", "<|tools_prefix|>")
APERTUS = lambda cs: "<|tools_prefix|>[" + ", ".join(cs) + "]<|tools_suffix|>"
named_one = lambda n, a: dumps({n: a})
thinking(f, "<|inner_prefix|>", "<|inner_suffix|>")
calling(f, APERTUS, named_one, gap="")
f.case("a call inside a thought, which goes on",
       "<|inner_prefix|>I look it up. " + APERTUS([named_one("f", {})]) +
       "So it is 3.<|inner_suffix|>3",
       reasoning="I look it up. So it is 3.", content="3", calls=[good("f", {})])
f.case("arguments that are no object", '<|tools_prefix|>[{"f": 3}]<|tools_suffix|>',
       calls=[bad('{"f": 3}', 6, name="f")])
f.case("broken JSON", '<|tools_prefix|>[{"f": {]<|tools_suffix|>',
       calls=[bad('[{"f": {]', 8)])
f.case("the end of the turn", "a<|assistant_end|>", content="a", end="message")
f.case("name and arguments after all",
       '<|tools_prefix|>[{"name": "f", "arguments": {"a": 1}}]<|tools_suffix|>',
       calls=[good("f", {"a": 1})])

f = family("granite", "jinja/ibm-granite-granite-3.3-2B-Instruct.jinja: <|tool_call|>[...], "
           "<think>, <response>", "<|tool_call|>")
GRANITE = lambda cs: "<|tool_call|>[" + ", ".join(cs) + "]"
thinking(f, "<think>", "</think>", tool="<|tool_call|>[]")
calling(f, GRANITE, json_one)
f.case("the response has markers", "<think>a</think>\n<response>b</response>",
       reasoning="a", content="b")
f.case("a closing marker that nothing opened", "b</response>", content="b</response>")
f.case("no list", '<|tool_call|>{"name": "f", "arguments": {}}', calls=[good("f", {})])
f.case("the end of the turn", [GRANITE([json_one("f", {})]), S("<|end_of_text|>")],
       calls=[good("f", {})], end="message")
f.case("broken JSON", ['<|tool_call|>[{"name": "f" "x"}]', S("<|end_of_text|>")],
       calls=[bad('[{"name": "f" "x"}]', 14)], end="message")
f.case("cut short", '<|tool_call|>[{"name": "f"', calls=[bad('[{"name": "f"', 13, truncated=True)])

f = family("cohere", "jinja/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja, Cohere2MoE.jinja: "
           "<|START_THINKING|>, <|START_RESPONSE|>, <|START_TEXT|>, <|START_ACTION|>",
           "<|START_ACTION|>")
def cohere_block(cs):
    return "<|START_ACTION|>[\n" + ",\n".join(
        '    {"tool_call_id": "%d", %s' % (i, c) for i, c in enumerate(cs)) + "\n]<|END_ACTION|>"
cohere_one = lambda n, a: dumps({"tool_name": n, "parameters": a})[1:]
thinking(f, "<|START_THINKING|>", "<|END_THINKING|>", gap="", inner="",
         tool=cohere_block([cohere_one("f", {})]))
calling(f, cohere_block, cohere_one, gap="", ids=str)
f.case("a plan, then a call",
       "<|START_THINKING|>I will look.\n<|END_THINKING|>" + cohere_block([cohere_one("f", {})]),
       reasoning="I will look.\n", calls=[good("f", {}, "0")])
f.case("a response", "<|START_RESPONSE|>Hi.\n<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
       content="Hi.\n", end="message")
f.case("the prompt opened the response", ["Hi.", S("<|END_RESPONSE|>"), S("<|END_OF_TURN_TOKEN|>")],
       content="Hi.", end="message")
f.case("text, as the mixture writes it", "<|START_THINKING|>a<|END_THINKING|><|START_TEXT|>b<|END_TEXT|>",
       reasoning="a", content="b")
f.case("broken JSON", "<|START_ACTION|>[{]<|END_ACTION|>", calls=[bad("[{]", 2)])

f = family("command-r", "jinja/CohereForAI-c4ai-command-r-plus-tool_use.jinja: "
           "Action: and a list of tool_name, parameters in a code block", "Action:")
CMDR = lambda cs: "Action:\n```json\n[\n" + ",\n".join(cs) + "\n]```"
cmdr_one = lambda n, a: dumps({"tool_name": n, "parameters": a})
calling(f, CMDR, cmdr_one, quoted=False)
f.case("in one line", "Plan: look.\nAction: ```json\n[" + cmdr_one("f", {}) + "\n]\n```",
       content="Plan: look.", calls=[good("f", {})])
f.case("an action that is none", "Action: go.\n```\nx\n```", content="Action: go.\n```\nx\n```")
f.case("a code block that is none", "```json\n[]\n```", content="```json\n[]\n```")
f.case("backticks inside a string", 'Action:\n```json\n[{"tool_name": "f", "parameters": {"a": "```"}}]\n```',
       calls=[good("f", {"a": "```"})], spelled=True)
f.case("broken JSON", "Action:\n```json\n[{]\n```", calls=[bad("[{]\n", 2)])
f.case("cut short", "Action:\n```json\n[{", calls=[bad("[{", 2, truncated=True)])

f = family("firefunction", "jinja/fireworks-ai-llama-3-firefunction-v2.jinja: functools[...]",
           "functools[")
FIRE = lambda cs: "functools[" + ", ".join(cs) + "]"
calling(f, FIRE, json_one, gap=" ", after=False)
f.case("text behind the list", FIRE([json_one("f", {})]) + "\nDone.", content="Done.",
       calls=[good("f", {})])
f.case("the module of that name", "Use functools.lru_cache or functools[0].",
       content="Use functools.lru_cache or functools[0].", spelled=True)
f.case("the end of the turn", [" " + FIRE([json_one("f", {})]), S("<|eot_id|>")],
       calls=[good("f", {})], end="message")
f.case("broken JSON", ['functools[{"name": }]', S("<|eot_id|>")], calls=[bad('[{"name": }]', 10)],
       end="message")
f.case("cut short", 'functools[{"name": "f"', calls=[bad('[{"name": "f"', 13, truncated=True)])
f.case("half a marker", "a functo", content="a functo")

f = family("gigachat", "jinja/GigaChat3-10B-A1.8B.jinja, GigaChat3.1-10B-A1.8B.jinja: "
           "<|message_sep|>, \"function call\", <|role_sep|>, <|function_call|>",
           "<|function_call|>")
GIGA = lambda cs: "".join("<|function_call|>" + c for c in cs)
calling(f, GIGA, json_one, gap="")
f.case("a message of its own", "Let me check.<|message_sep|>\n\nfunction call<|role_sep|>\n" +
       json_one("f", {}), content="Let me check.", calls=[good("f", {})])
f.case("a message of its own, in tokens",
       ["a", S("<|message_sep|>"), "\n\nfunction call", S("<|role_sep|>"), "\n" + json_one("f", {}),
        S("<|message_sep|>")], content="a", calls=[good("f", {})], end="message")
f.case("the role comes first", "function call<|role_sep|>\n" + json_one("f", {}),
       calls=[good("f", {})])
f.case("the end of the message", ["51", S("<|message_sep|>")], content="51", end="message")
f.case("the end of the message, spelled", "51<|message_sep|>", content="51", end="message")
f.case("words that are no role", "function calls are nice", content="function calls are nice")
f.case("broken JSON", ["<|function_call|>{\"name\" 1}", S("<|message_sep|>")],
       calls=[bad('{"name" 1}', 8)], end="message")

f = family("llama3", "jinja/meta-llama-Llama-3.1-8B-Instruct.jinja, ...3.2-3B...: "
           "{\"name\", \"parameters\"}, <|python_tag|>", "<|python_tag|>")
thinking(f, "<think>", "</think>")
llama_one = lambda n, a: dumps({"name": n, "parameters": a})
f.case("the answer is a call", llama_one("get_weather", {"city": "Paris"}),
       calls=[good("get_weather", {"city": "Paris"})])
f.case("of all types", llama_one("search_files", TYPES), calls=[good("search_files", TYPES)])
f.case("the answer is two calls", llama_one("f", {}) + "; " + llama_one("g", {}),
       calls=[good("f", {}), good("g", {})])
f.case("with its type", '{"type": "function", "name": "f", "parameters": {}}', calls=[good("f", {})])
f.case("and the end of the turn", [llama_one("f", {}), S("<|eot_id|>")], calls=[good("f", {})],
       end="message")
f.case("behind a thought", "<think>a</think>\n\n" + llama_one("f", {}), reasoning="a",
       calls=[good("f", {})])
f.case("JSON that is no call", '{"name": "f"}', content='{"name": "f"}')
f.case("JSON with other members", '{"name": "f", "parameters": {}, "age": 3}',
       content='{"name": "f", "parameters": {}, "age": 3}')
f.case("a call with text behind it", llama_one("f", {}) + " ok", content=llama_one("f", {}) + " ok")
f.case("a call with text before it", "ok " + llama_one("f", {}), content="ok " + llama_one("f", {}))
f.case("JSON that breaks off", '{"name": "f", "para', content='{"name": "f", "para')
f.case("behind the tag", "<|python_tag|>" + llama_one("f", {"a": 1.0}), calls=[good("f", {"a": 1.0})])
f.case("two behind the tag", "<|python_tag|>" + llama_one("f", {}) + "; " + llama_one("g", {}),
       calls=[good("f", {}), good("g", {})])
f.case("text behind the tag's call", "<|python_tag|>" + llama_one("f", {}) + "\nDone.",
       content="Done.", calls=[good("f", {})])
f.case("a tool that is built in", ["<|python_tag|>brave_search.call(query=\"a \\\"b\\\"\")", S("<|eom_id|>")],
       calls=[good("brave_search", {"query": "a \"b\""})], end="message")
f.case("code behind the tag", ["<|python_tag|>print({1})", S("<|eom_id|>")],
       calls=[bad("print({1})", 0)], end="message")
f.case("a tag in a code block is text", "```\n<|python_tag|>x\n```", content="```\n<|python_tag|>x\n```",
       spelled=True)
f.case("the end of the turn, spelled", llama_one("f", {}) + "<|eot_id|>", calls=[good("f", {})], end="message")
f.case("a list is no call", "[" + llama_one("f", {}) + "]", content="[" + llama_one("f", {}) + "]")

f = family("cogito", "jinja-gguf/cogito-3b.jinja: [{\"name\", \"arguments\", \"id\"}]")
thinking(f, "<think>", "</think>")
COG = lambda cs: "[" + ", ".join(cs) + "]"
f.case("the answer is a list of calls", COG([json_one("f", {}), json_one("g", TYPES)]),
       calls=[good("f", {}), good("g", TYPES)])
f.case("with ids", '[{"name": "f", "arguments": {}, "id": "a1"}]', calls=[good("f", {}, "a1")])
f.case("a list of something else", '[{"name": "f"}]', content='[{"name": "f"}]')
f.case("a list with other members", '[{"name": "f", "x": 1}]', content='[{"name": "f", "x": 1}]')
f.case("a list of numbers", "[1, 2]", content="[1, 2]")
f.case("text before the list", "See: " + COG([json_one("f", {})]),
       content="See: " + COG([json_one("f", {})]))
f.case("an empty list", "[]", content="[]")
f.case("the end of the turn", [COG([json_one("f", {})]), S("<|eot_id|>")], calls=[good("f", {})],
       end="message")

f = family("mistral", "jinja/mistralai-Mistral-Nemo-Instruct-2407.jinja, "
           "Mistral-Small-3.2..., Devstral, Ministral-3...: [TOOL_CALLS], [ARGS], [CALL_ID], [THINK]",
           "[TOOL_CALLS]")
MISTRAL = lambda cs: "".join("[TOOL_CALLS]" + c for c in cs)
mistral_one = lambda n, a: n + "[ARGS]" + dumps(a)
thinking(f, "[THINK]", "[/THINK]", inner="", gap="", tool="[TOOL_CALLS]f[ARGS]{}")
calling(f, MISTRAL, mistral_one, gap="")
f.case("a list", '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1.0}, "id": "abc123def"}, '
       '{"name": "g", "arguments": {}}]', calls=[good("f", {"a": 1.0}, "abc123def"), good("g", {})])
f.case("a list with a space before it, and text behind", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]\n\nDone.',
       content="Done.", calls=[good("f", {})])
f.case("an id", "[TOOL_CALLS]f[CALL_ID]abc123def[ARGS]{\"a\": 1}", calls=[good("f", {"a": 1}, "abc123def")])
f.case("the older form without [ARGS]", "[TOOL_CALLS]f{\"a\": {\"b\": []}}", calls=[good("f", {"a": {"b": []}})])
f.case("all in tokens", [S("[TOOL_CALLS]"), "f", S("[CALL_ID]"), "abc123def", S("[ARGS]"), "{}",
                         S("[TOOL_CALLS]"), "g", S("[ARGS]"), "{}", S("</s>")],
       calls=[good("f", {}, "abc123def"), good("g", {})], end="message")
f.case("the markers in a string", '[TOOL_CALLS]f[ARGS]{"a": "[ARGS][TOOL_CALLS]"}',
       calls=[good("f", {"a": "[ARGS][TOOL_CALLS]"})], spelled=True)
f.case("brackets in an answer", "a [b] [TOOL x", content="a [b] [TOOL x")
f.case("a marker in prose", "The [TOOL_CALLS] token comes first.",
       content="The [TOOL_CALLS] token comes first.", spelled=True)
f.case("broken JSON", ["[TOOL_CALLS]f[ARGS]{\"a\": x}", S("</s>")],
       calls=[bad('f[ARGS]{"a": x}', 13, name="f")], end="message")
f.case("no arguments behind the marker", ["[TOOL_CALLS]f[ARGS]", S("</s>")], calls=[good("f", {})],
       end="message")
f.case("cut short", "[TOOL_CALLS]f[ARGS]{\"a\":", calls=[bad('f[ARGS]{"a":', 12, name="f", truncated=True)])

# ---- tags ----

f = family("qwen-coder", "jinja/Qwen3-Coder.jinja, Qwen3.5-4B, StepFun3.5-Flash, "
           "NVIDIA-Nemotron-3-Nano: <function=NAME>, <parameter=KEY>", "<tool_call>")
value = lambda v: v if isinstance(v, str) else dumps(v)
def coder_one(n, a):
    return f"<function={n}>\n" + "".join(f"<parameter={k}>\n{value(v)}\n</parameter>\n" for k, v in a.items()) + "</function>"
thinking(f, "<think>", "</think>", tool=HERMES([coder_one("f", {"a": 1})]))
calling(f, HERMES, coder_one)
one_value = lambda v: f"<tool_call>\n<function=f>\n<parameter=a>{v}</parameter>\n</function>\n</tool_call>"
f.case("all but one line break are kept", one_value("\n\n  x\n\n\n"), calls=[good("f", {"a": "\n  x\n\n"})])
f.case("no line breaks", one_value("x"), calls=[good("f", {"a": "x"})])
f.case("CR LF", one_value("\r\nx\r\n"), calls=[good("f", {"a": "x"})])
f.case("an empty value", one_value("\n"), calls=[good("f", {"a": ""})])
f.case("JSON becomes JSON", one_value("\n[1.0, {\"b\": null}]\n"), calls=[good("f", {"a": [1.0, {"b": None}]})])
f.case("JSON in quotes, too", one_value("\n\"x\"\n"), calls=[good("f", {"a": "x"})])
f.case("almost JSON is a string", one_value("\n{a: 1}\n"), calls=[good("f", {"a": "{a: 1}"})])
f.case("Python is a string", one_value("\nTrue\n"), calls=[good("f", {"a": "True"})])
f.case("long numbers keep their digits", one_value(f"\n{LONG}\n"), calls=[good("f", Raw('{"a": %s}' % LONG))])
f.case("tags inside a value", one_value("\n<b>x</b> </tool_call> <tool_call>\n"),
       calls=[good("f", {"a": "<b>x</b> </tool_call> <tool_call>"})], spelled=True)
f.case("the closing tag of a value inside of it", one_value("\na</parameter>b\n"),
       calls=[good("f", {"a": "a</parameter>b"})])
f.case("the closing marker inside a value", one_value("\na</tool_call>b\n") + "c",
       content="c", calls=[good("f", {"a": "a</tool_call>b"})], spelled=True)
f.case("<tool_call> was forgotten", "Ok.\n" + coder_one("f", {"a": 1}) + "\n</tool_call>\nDone.",
       content="Ok.Done.", calls=[good("f", {"a": 1})])
f.case("the closing tag of the value was forgotten",
       "<tool_call>\n<function=f>\n<parameter=a>\nx\n</function>\n</tool_call>b", content="b",
       calls=[good("f", {"a": "x"})])
f.case("and another argument follows",
       "<tool_call>\n<function=f>\n<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n</function>\n</tool_call>",
       calls=[good("f", {"a": "x", "b": "y"})])
f.case("a text about such tags",
       one_value("\nWrite:\n<parameter=b>\ny\n</parameter>\nSo.\n"),
       calls=[good("f", {"a": "Write:\n<parameter=b>\ny\n</parameter>\nSo."})])
f.case("a function in prose", "Write <function=f> and so on.", content="Write <function=f> and so on.", spelled=True)
f.case("one key twice: the last counts", "<tool_call><function=f><parameter=a>1</parameter>"
       "<parameter=a>2</parameter></function></tool_call>", calls=[good("f", {"a": 2})])
f.case("two functions in one", "<tool_call>" + coder_one("f", {}) + "\n" + coder_one("g", {}) + "</tool_call>",
       calls=[good("f", {}), good("g", {})])
f.case("text where an argument was expected", "<tool_call><function=f>x</function></tool_call>b", content="b",
       calls=[bad("<function=f>x</function>", 12, name="f")])
f.case("no function", "<tool_call><x></tool_call>b", content="b", calls=[bad("<x>", 0)])
f.case("cut short", "<tool_call>\n<function=f>\n<parameter=a>\nx",
       calls=[bad("\n<function=f>\n<parameter=a>\nx", 29, name="f", truncated=True)])
f.case("JSON after all", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', calls=[good("f", {})])
f.case("a function in a code span", "`<function=f>` opens it.", content="`<function=f>` opens it.",
       spelled=True)

f = family("seed", "jinja/ByteDance-Seed-OSS.jinja: <seed:think>, <seed:tool_call>", "<seed:tool_call>")
SEED = lambda cs: "\n".join(f"<seed:tool_call>\n{c}\n</seed:tool_call>" for c in cs)
def seed_one(n, a):
    return f"<function={n}>\n" + "".join(f"<parameter={k}>{value(v)}</parameter>\n" for k, v in a.items()) + "</function>"
thinking(f, "<seed:think>", "</seed:think>", inner="", gap="\n", tool=SEED([seed_one("f", {})]))
calling(f, SEED, seed_one, gap="\n\n")
f.case("the budget", "<seed:think>a<seed:cot_budget_reflect>I have used 5 tokens.</seed:cot_budget_reflect>b</seed:think>c",
       reasoning="aI have used 5 tokens.b", content="c")
f.case("a value keeps its line breaks", SEED(["<function=f>\n<parameter=a>\nx\n</parameter>\n</function>"]),
       calls=[good("f", {"a": "\nx\n"})])
f.case("a list as Python writes it", SEED(["<function=f>\n<parameter=a>['b', None, {'c': 1.50}]</parameter>\n</function>"]),
       calls=[good("f", Raw('{"a": ["b", null, {"c": 1.50}]}'))])
f.case("a word of Python is a string", SEED(["<function=f>\n<parameter=a>True</parameter>\n</function>"]),
       calls=[good("f", {"a": "True"})])
f.case("the end of the turn", ["a", S("<seed:eos>")], content="a", end="message")
f.case("text where an argument was expected", "<seed:tool_call><function=f>x</function></seed:tool_call>",
       calls=[bad("<function=f>x</function>", 12, name="f")])
f.case("cut short", "<seed:tool_call>\n<function=f>", calls=[bad("\n<function=f>", 13, name="f", truncated=True)])

f = family("minimax", "jinja/MiniMax-M2.jinja: <minimax:tool_call>, <invoke name=\"NAME\">", "<minimax:tool_call>")
MINIMAX = lambda cs: "<minimax:tool_call>\n" + "".join(c + "\n" for c in cs) + "</minimax:tool_call>"
def minimax_one(n, a):
    return f'<invoke name="{n}">\n' + "".join(f'<parameter name="{k}">{value(v)}</parameter>\n' for k, v in a.items()) + "</invoke>"
thinking(f, "<think>", "</think>", tool=MINIMAX([minimax_one("f", {})]))
calling(f, MINIMAX, minimax_one)
f.case("tags inside a value", MINIMAX([minimax_one("f", {"a": "<invoke name=\"x\"> </minimax:tool_call>"})]),
       calls=[good("f", {"a": "<invoke name=\"x\"> </minimax:tool_call>"})], spelled=True)
f.case("no name", '<minimax:tool_call><invoke></invoke></minimax:tool_call>',
       calls=[bad("<invoke></invoke>", 0)])
f.case("the second call is broken", "<minimax:tool_call>" + minimax_one("f", {}) + '<invoke name="g">x</minimax:tool_call>',
       calls=[good("f", {}), bad('<invoke name="g">x', 17, name="g")])
f.case("the end of the turn", [MINIMAX([minimax_one("f", {})]), S("[e~[")], calls=[good("f", {})], end="message")
f.case("cut short", '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">x',
       calls=[bad('\n<invoke name="f">\n<parameter name="a">x', 40, name="f", truncated=True)])

f = family("dsml", "jinja/deepseek-ai-DeepSeek-V3.2.jinja, ...V4.jinja: <｜DSML｜invoke name=\"NAME\">",
           "<｜DSML｜tool_calls>")
DSML = lambda cs: "<｜DSML｜tool_calls>\n" + "".join(c + "\n" for c in cs) + "</｜DSML｜tool_calls>"
def dsml_one(n, a):
    return f'<｜DSML｜invoke name="{n}">\n' + "".join(
        '<｜DSML｜parameter name="%s" string="%s">%s</｜DSML｜parameter>\n'
        % (k, dumps(isinstance(v, str)), value(v)) for k, v in a.items()) + "</｜DSML｜invoke>"
thinking(f, "<think>", "</think>", inner="", gap="", tool=DSML([dsml_one("f", {})]))
calling(f, DSML, dsml_one, gap="\n\n")
f.case("as V3.2 calls the block", DSML([dsml_one("f", {"a": 1})]).replace("tool_calls", "function_calls"),
       calls=[good("f", {"a": 1})])
f.case("a string that is JSON stays one", DSML([dsml_one("f", {"a": "3"})]), calls=[good("f", {"a": "3"})])
f.case("the token in pieces of text", ["\n\n<", S("｜DSML｜"), "tool_calls>\n<", S("｜DSML｜"), "invoke name=\"f\">\n</",
                                       S("｜DSML｜"), "invoke>\n</", S("｜DSML｜"), "tool_calls>", S("<｜end▁of▁sentence｜>")],
       calls=[good("f", {})], end="message")
f.case("no JSON where it says so", '<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">x'
       '</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>', calls=[good("f", {"a": "x"})])
f.case("the tag of an argument is broken", '<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter a>1'
       '</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
       calls=[bad('<｜DSML｜invoke name="f"><｜DSML｜parameter a>1</｜DSML｜parameter></｜DSML｜invoke>', 27, name="f")])
f.case("cut short", '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">',
       calls=[bad('\n<｜DSML｜invoke name="f">', 28, name="f", truncated=True)])

f = family("minicpm", "jinja/openbmb-MiniCPM5-1B.jinja: <function name=\"NAME\"><param name=\"KEY\">",
           "<function name=\"f\">")
def minicpm_one(n, a):
    def v(x):
        s = value(x)
        return "<![CDATA[" + s + "]]>" if isinstance(x, str) and any(c in s for c in "<&\n") else s
    return f'<function name="{n}">' + "".join(f'<param name="{k}">{v(x)}</param>' for k, x in a.items()) + "</function>"
MINICPM = lambda cs: "\n".join(cs)
thinking(f, "<think>", "</think>", tool=minicpm_one("f", {}))
calling(f, MINICPM, minicpm_one)
f.case("CDATA is a string", '<function name="f"><param name="a"><![CDATA[3]]></param></function>', calls=[good("f", {"a": "3"})])
f.case("tags in CDATA", minicpm_one("f", {"a": "</function> <param name=\"x\">"}),
       calls=[good("f", {"a": "</function> <param name=\"x\">"})], spelled=True)
f.case("another tag of that kind", "<function>x</function>", content="<function>x</function>")
f.case("text where an argument was expected", '<function name="f">x</function>b', content="b",
       calls=[bad('<function name="f">x</function>', 19, name="f")])
f.case("a function in prose", 'Write <function name="f"> and so on.', content='Write <function name="f"> and so on.',
       spelled=True)
f.case("cut short", '<function name="f"><param name="a">x',
       calls=[bad('<function name="f"><param name="a">x', 36, name="f", truncated=True)])

f = family("minimax-m3", "jinja/MiniMax-M3.jinja: <mm:think>, ]<]minimax[>[ before each tag", "]<]minimax[>[<tool_call>")
NS = "]<]minimax[>["
def m3_value(v):
    if isinstance(v, dict):
        return "".join(f"{NS}<{k}>{m3_value(x)}{NS}</{k}>" for k, x in v.items())
    if isinstance(v, list):
        return "".join(f"{NS}<item>{m3_value(x)}{NS}</item>" for x in v)
    return value(v)
def m3_one(n, a):
    return f'{NS}<invoke name="{n}">' + m3_value(a) + f"{NS}</invoke>\n"
M3 = lambda cs: f"{NS}<tool_call>\n" + "".join(cs) + f"{NS}</tool_call>"
M3_TYPES = dict(TYPES, opts={"deep": True})
thinking(f, "<mm:think>", "</mm:think>", inner="", gap="", tool="x")
calling(f, M3, m3_one, gap="", types=M3_TYPES)
f.case("no thought: the closing marker comes first", "</mm:think>Hi.", content="Hi.")
f.case("lists of objects", M3([m3_one("f", {"a": [{"b": 1}, {"b": [2, "x"]}]})]),
       calls=[good("f", {"a": [{"b": 1}, {"b": [2, "x"]}]})])
f.case("tokens before the tags", [S(NS), "<tool_call>\n", S(NS), "<invoke name=\"f\">", S(NS), "<a>1", S(NS), "</a>",
                                  S(NS), "</invoke>\n", S(NS), "</tool_call>", S("[e~[")],
       calls=[good("f", {"a": 1})], end="message")
f.case("a closing tag is missing", f"{NS}<tool_call>{NS}<invoke name=\"f\">{NS}<a>1{NS}</b>{NS}</invoke>{NS}</tool_call>",
       calls=[bad(f"{NS}<invoke name=\"f\">{NS}<a>1{NS}</b>{NS}</invoke>", 47, name="f")])
f.case("cut short", f"{NS}<tool_call>\n{NS}<invoke name=\"f\">{NS}<a>x",
       calls=[bad(f"\n{NS}<invoke name=\"f\">{NS}<a>x", 48, name="f", truncated=True)])

f = family("mcp", "jinja/MiroThinker.jinja: <use_mcp_tool>, <server_name>, <tool_name>, <arguments>", "<use_mcp_tool>")
MCP = lambda cs: "<use_mcp_tool>\n" + "\n".join(cs) + "\n</use_mcp_tool>"
mcp_one = lambda n, a: f"<server_name>s</server_name>\n<tool_name>{n}</tool_name>\n<arguments>\n{dumps(a)}\n</arguments>"
thinking(f, "<think>", "</think>", tool=MCP([mcp_one("f", {})]))
calling(f, MCP, mcp_one)
f.case("JSON in <tool_call>", HERMES([json_one("f", {"a": 1})]), calls=[good("f", {"a": 1})])
f.case("the marker in an argument", MCP([mcp_one("f", {"a": "</use_mcp_tool>"})]),
       calls=[good("f", {"a": "</use_mcp_tool>"})], spelled=True)
f.case("no tool", "<use_mcp_tool><server_name>s</server_name></use_mcp_tool>",
       calls=[bad("<server_name>s</server_name>", 28)])
f.case("broken arguments", "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>{</arguments></use_mcp_tool>",
       calls=[bad("<server_name>s</server_name><tool_name>f</tool_name><arguments>{</arguments>", 64, name="f")])

f = family("glm", "jinja/GLM-4.6.jinja, GLM-4.7-Flash, GLM-5.2, poolside-Laguna-*: <arg_key>, <arg_value>", "<tool_call>")
GLM = lambda cs: "\n".join(f"<tool_call>{c}\n</tool_call>" for c in cs)
def glm_one(n, a):
    return n + "".join(f"\n<arg_key>{k}</arg_key>\n<arg_value>{value(v)}</arg_value>" for k, v in a.items())
thinking(f, "<think>", "</think>", inner="", gap="\n", tool=GLM([glm_one("f", {"a": 1})]))
calling(f, GLM, glm_one)
f.case("without line breaks", "Let me check.<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>"
       "<tool_call>get_time</tool_call>", content="Let me check.",
       calls=[good("get_weather", {"city": "Paris"}), good("get_time", {})])
f.case("a value keeps its line breaks", "<tool_call>f<arg_key>a</arg_key><arg_value>\nx\n</arg_value></tool_call>",
       calls=[good("f", {"a": "\nx\n"})])
f.case("the closing marker inside a value", "<tool_call>f<arg_key>a</arg_key><arg_value></tool_call></arg_value></tool_call>b",
       content="b", calls=[good("f", {"a": "</tool_call>"})], spelled=True)
f.case("a marker in prose", "The <tool_call> tag opens a call.", content="The <tool_call> tag opens a call.", spelled=True)
f.case("a key without a value", "<tool_call>f<arg_key>a</arg_key></tool_call>b", content="b",
       calls=[bad("f<arg_key>a</arg_key>", 21, name="f")])
f.case("no name", "<tool_call><arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
       calls=[bad("<arg_key>a</arg_key><arg_value>1</arg_value>", 0)])
f.case("the model wants the result", ["<tool_call>f</tool_call>", S("<|observation|>")], calls=[good("f", {})], end="message")
f.case("cut short", "<tool_call>f\n<arg_key>a", calls=[bad("f\n<arg_key>a", 12, name="f", truncated=True)])

f = family("hunyuan", "jinja/tencent-Hy3.jinja: the markers of GLM with :opensource", "<tool_calls:opensource>")
HY = lambda cs: "<tool_calls:opensource>\n" + "".join(f"<tool_call:opensource>{c}</tool_call:opensource>\n" for c in cs) + "</tool_calls:opensource>"
def hy_one(n, a):
    return n + "<tool_sep:opensource>\n" + "".join(
        f"<arg_key:opensource>{k}</arg_key:opensource>\n<arg_value:opensource>{value(v)}</arg_value:opensource>\n" for k, v in a.items())
thinking(f, "<think:opensource>", "</think:opensource>", inner="", gap="", tool=HY([hy_one("f", {})]))
calling(f, HY, hy_one)
f.case("a call without its section", "<tool_call:opensource>f<tool_sep:opensource></tool_call:opensource>", calls=[good("f", {})])
f.case("the end of the turn", "a<｜hy_eos:opensource｜>", content="a", end="message")
f.case("a key without a value", "<tool_call:opensource>f<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource></tool_call:opensource>",
       calls=[bad("f<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource>", 64, name="f")])

# ---- sections ----

f = family("kimi-k2", "jinja/Kimi-K2-Instruct.jinja, Kimi-K2-Thinking.jinja, moonshotai-Kimi-K2.jinja: "
           "<|tool_calls_section_begin|>, functions.NAME:IDX", "<|tool_calls_section_begin|>")
def k2_block(cs):
    return "<|tool_calls_section_begin|>" + "".join(
        "<|tool_call_begin|>functions.%s:%d<|tool_call_argument_begin|>%s<|tool_call_end|>" % (c[0], i, c[1])
        for i, c in enumerate(cs)) + "<|tool_calls_section_end|>"
k2_one = lambda n, a: (n, dumps(a))
thinking(f, "<think>", "</think>", inner="", gap="", tool=k2_block([k2_one("f", {})]))
calling(f, k2_block, k2_one, gap="")
f.case("ids", k2_block([k2_one("f", {}), k2_one("g", {})]), calls=[good("f", {}, "functions.f:0"), good("g", {}, "functions.g:1")])
f.case("an id of another kind", "<|tool_calls_section_begin|><|tool_call_begin|>f<|tool_call_argument_begin|>{}<|tool_call_end|>"
       "<|tool_calls_section_end|>", calls=[good("f", {}, "call_0")])
f.case("a name with a colon and digits", "<|tool_calls_section_begin|><|tool_call_begin|>functions.a:b2:13<|tool_call_argument_begin|>{}"
       "<|tool_call_end|><|tool_calls_section_end|>", calls=[good("a:b2", {}, "functions.a:b2:13")])
f.case("all in tokens", [S("<think>"), "Hm.", S("</think>"), S("<|tool_calls_section_begin|>"), S("<|tool_call_begin|>"),
       "functions.f:0", S("<|tool_call_argument_begin|>"), "{\"a\": 1}", S("<|tool_call_end|>"), S("<|tool_calls_section_end|>"), S("<|im_end|>")],
       reasoning="Hm.", calls=[good("f", {"a": 1}, "functions.f:0")], end="message")
f.case("a section of tokens ends the thought", ["Hm.", S("<|tool_calls_section_begin|>"), S("<|tool_call_begin|>"),
       "functions.f:0", S("<|tool_call_argument_begin|>"), "{}", S("<|tool_call_end|>"), S("<|tool_calls_section_end|>")],
       reasoning="Hm.", calls=[good("f", {})], start="think")
f.case("white space in the section", "<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.f:0 <|tool_call_argument_begin|> {} "
       "<|tool_call_end|>\n<|tool_calls_section_end|>", calls=[good("f", {}, "functions.f:0")])
f.case("empty arguments", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|><|tool_call_end|>",
       calls=[good("f", {})])
f.case("the closing marker inside a string", k2_block([k2_one("f", {"a": "<|tool_call_end|>"})]),
       calls=[good("f", {"a": "<|tool_call_end|>"})], spelled=True)
f.case("the call is not closed, the section is", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
       "<|tool_calls_section_end|>b", content="b", calls=[good("f", {})])
f.case("broken JSON", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{x}<|tool_call_end|>",
       calls=[bad("functions.f:0<|tool_call_argument_begin|>{x}", 42, name="f")])
f.case("cut short", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\"",
       calls=[bad("functions.f:0<|tool_call_argument_begin|>{\"a\"", 45, name="f", truncated=True)])

f = family("deepseek", "jinja/deepseek-ai-DeepSeek-V3.1.jinja, llama-cpp-deepseek-r1.jinja, jinja-gguf/deepseek-r1-latest.jinja: "
           "<｜tool▁calls▁begin｜>, <｜tool▁sep｜>", "<｜tool▁calls▁begin｜>")
DS = lambda cs: "<｜tool▁calls▁begin｜>" + "".join(f"<｜tool▁call▁begin｜>{c}<｜tool▁call▁end｜>" for c in cs) + "<｜tool▁calls▁end｜>"
ds_one = lambda n, a: f"{n}<｜tool▁sep｜>{dumps(a)}"
r1_one = lambda n, a: f"function<｜tool▁sep｜>{n}\n```json\n{dumps(a)}\n```"
thinking(f, "<think>", "</think>", tool=DS([ds_one("f", {})]))
calling(f, DS, ds_one, gap="")
f.case("as V3 and R1 write it", "<｜tool▁calls▁begin｜>" + "\n".join(f"<｜tool▁call▁begin｜>{c}<｜tool▁call▁end｜>" for c in
       (r1_one("f", TYPES), r1_one("g", {}))) + "<｜tool▁calls▁end｜>", calls=[good("f", TYPES), good("g", {})])
f.case("a line break behind the code block", DS([r1_one("f", {"a": "```"}) + "\n"]), calls=[good("f", {"a": "```"})])
f.case("the section's marker was forgotten", "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       content="<｜tool▁calls▁end｜>", calls=[good("f", {})], spelled=True)
f.case("all in tokens", [S("<｜tool▁calls▁begin｜>"), S("<｜tool▁call▁begin｜>"), "f", S("<｜tool▁sep｜>"), "{}", S("<｜tool▁call▁end｜>"),
       S("<｜tool▁calls▁end｜>"), S("<｜end▁of▁sentence｜>")], calls=[good("f", {})], end="message")
f.case("the end, spelled", "a<｜end▁of▁sentence｜>", content="a", end="message")
f.case("no separator", DS(["f {}"]), calls=[bad("f {}", 4)])
f.case("broken JSON in the code block", DS(["function<｜tool▁sep｜>f\n```json\n{x\n```"]),
       calls=[bad("function<｜tool▁sep｜>f\n```json\n{x\n```", 37, name="f")])
f.case("cut short", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{",
       calls=[bad("f<｜tool▁sep｜>{", 20, name="f", truncated=True)])

f = family("solar", "jinja/upstage-Solar-Open-100B.jinja: <|think|>, <|content|>, <|tool_call:begin|>", "<|tool_calls|>")
def solar_block(cs):
    return "<|tool_calls|>" + "".join("<|tool_call:begin|>id%d<|tool_call:name|>%s<|tool_call:args|>%s<|tool_call:end|>" % (i, *c)
                                      for i, c in enumerate(cs)) + "<|calls|>"
calling(f, solar_block, k2_one, gap="", ids=lambda i: f"id{i}")
f.cases[-3]["expected"]["end"] = f.cases[-3]["expected"]["end"]
for c in f.cases:                       # <|calls|> ends the message
    if c["chunks"][-1].endswith("<|calls|>"):
        c["expected"]["end"] = "message"
f.case("a thought, then an answer", "<|think|>a\n<|end|><|begin|>assistant<|content|>b<|end|>", reasoning="a\n", content="b")
f.case("a thought, then a call", "<|think|>a<|end|><|begin|>assistant" + solar_block([k2_one("f", {})]),
       reasoning="a", calls=[good("f", {}, "id0")], end="message")
f.case("the prompt opened the thought", "a<|end|><|begin|>assistant<|content|>b", reasoning="a", content="b", start="think")
f.case("in tokens", [S("<|think|>"), "a", S("<|end|>"), S("<|begin|>"), "assistant", S("<|tool_calls|>"), S("<|tool_call:begin|>"), "x1",
       S("<|tool_call:name|>"), "f", S("<|tool_call:args|>"), "{}", S("<|tool_call:end|>"), S("<|calls|>")],
       reasoning="a", calls=[good("f", {}, "x1")], end="message")
f.case("no markers", "Hello!", content="Hello!")
f.case("tool syntax inside a thought is thinking", "<|think|>I could <|tool_calls|> now.<|end|><|begin|>assistant<|content|>b",
       reasoning="I could <|tool_calls|> now.", content="b", spelled=True)
f.case("no name", "<|tool_calls|><|tool_call:begin|>x<|tool_call:end|><|calls|>", calls=[bad("x", 1)], end="message")
f.case("broken JSON", "<|tool_calls|><|tool_call:begin|>x<|tool_call:name|>f<|tool_call:args|>{,}<|tool_call:end|><|calls|>",
       calls=[bad("x<|tool_call:name|>f<|tool_call:args|>{,}", 39, name="f")], end="message")
f.case("cut short", "<|tool_calls|><|tool_call:begin|>x<|tool_call:name|>f<|tool_call:args|>{",
       calls=[bad("x<|tool_call:name|>f<|tool_call:args|>{", 39, name="f", truncated=True)])

# ---- others ----

f = family("lfm2", "jinja/LFM2.5-8B-A1B.jinja, LFM2-8B-A1B.jinja: <|tool_call_start|>[NAME(key=value)]<|tool_call_end|>",
           "<|tool_call_start|>")
LFM2 = lambda cs: "<|tool_call_start|>[" + ", ".join(cs) + "]<|tool_call_end|>"
lfm2_one = lambda n, a: n + "(" + ", ".join(f"{k}={v!r}" for k, v in a.items()) + ")"
thinking(f, "<think>", "</think>", inner="", gap="", tool=LFM2([lfm2_one("f", {})]))
calling(f, LFM2, lfm2_one, gap="")
in_lfm2 = lambda s: f"<|tool_call_start|>{s}<|tool_call_end|>"
f.case("double quotes and escapes", in_lfm2('[f(a="x\\n\\t\\"y\\"\\x41\\u00e9\\U0001f600\\q")]'),
       calls=[good("f", {"a": "x\n\t\"y\"Aé😀\\q"})])
f.case("line breaks in strings, triple quotes", in_lfm2("[f(a='x\ny', b='''it's \"\n''')]"),
       calls=[good("f", {"a": "x\ny", "b": "it's \"\n"})])
f.case("words of both languages", in_lfm2("[f(a=True, b=None, c=false, d=null)]"),
       calls=[good("f", {"a": True, "b": None, "c": False, "d": None})])
f.case("lists, tuples, dicts", in_lfm2("[f(a=[1, 'x', [2.50]], b=(1, -2), c={'k': {\"l\": 1e3}}, d=[], e={})]"),
       calls=[good("f", Raw('{"a": [1, "x", [2.50]], "b": [1, -2], "c": {"k": {"l": 1e3}}, "d": [], "e": {}}'))])
f.case("a trailing comma and spaces", in_lfm2("[ f ( a = 1 , ) , g() ]"), calls=[good("f", {"a": 1}), good("g", {})])
f.case("no list", in_lfm2("f(a=1)"), calls=[good("f", {"a": 1})])
f.case("JSON after all", in_lfm2('[{"name": "f", "arguments": {"a": 1}}]'), calls=[good("f", {"a": 1})])
f.case("a positional argument", in_lfm2("[f(1)]"), calls=[bad("f(1)]", 2, name="f")])
f.case("a string that does not end", in_lfm2("[f(a='it's)]"), calls=[bad("f(a='it's)]", 11, name="f")])
f.case("quotes inside of quotes", in_lfm2("[f(a='it's \"x\"', b=\"y\"z\")]"), calls=[good("f", {"a": "it's \"x\"", "b": "y\"z"})])
f.case("the second call is broken", in_lfm2("[f(), g(a=)]"), calls=[good("f", {}), bad("g(a=)]", 4, name="g")])
f.case("the list does not end", in_lfm2("[f()"), calls=[good("f", {}), bad("", 0)])
f.case("in tokens", [S("<|tool_call_start|>"), "[f(a='b')]", S("<|tool_call_end|>"), "Done.", S("<|im_end|>")],
       content="Done.", calls=[good("f", {"a": "b"})], end="message")
f.case("cut short", "<|tool_call_start|>[f(a=1", calls=[bad("f(a=1", 5, name="f", truncated=True)])

f = family("gemma4", "jinja/google-gemma-4-31B-it.jinja: <|channel>thought, <|tool_call>call:NAME{...}<tool_call|>, <|\"|>",
           "<|tool_call>")
Q = '<|"|>'
def gemma_value(v):
    if isinstance(v, str):
        return Q + v + Q
    if isinstance(v, dict):
        return "{" + ",".join(k + ":" + gemma_value(x) for k, x in sorted(v.items())) + "}"
    if isinstance(v, list):
        return "[" + ",".join(gemma_value(x) for x in v) + "]"
    return str(v) if v is None else dumps(v)
GEMMA = lambda cs: "".join(f"<|tool_call>{c}<tool_call|>" for c in cs)
gemma_one = lambda n, a: "call:" + n + gemma_value(a)
G_TYPES = {k: TYPES[k] for k in sorted(TYPES)}
thinking(f, "<|channel>thought", "<channel|>", gap="", tool=GEMMA([gemma_one("f", {})]))
calling(f, GEMMA, gemma_one, gap="", types=G_TYPES)
f.case("in tokens", [S("<|channel>"), "thought\nHm.\n", S("<channel|>"), S("<|tool_call>"), "call:f{a:", S(Q), "x{},:", S(Q), "}",
                     S("<tool_call|>"), S("<|tool_response>")],
       reasoning="Hm.", calls=[good("f", {"a": "x{},:"})], end="message")
f.case("quoted keys and JSON strings", "<|tool_call>call:f{" + Q + "a b" + Q + ":{" + Q + "c" + Q + ":\"d\"}}<tool_call|>",
       calls=[good("f", {"a b": {"c": "d"}})])
f.case("markers in a string", "<|tool_call>call:f{a:" + Q + "<tool_call|>" + Q + "}<tool_call|>b", content="b",
       calls=[good("f", {"a": "<tool_call|>"})], spelled=True)
f.case("no value", "<|tool_call>call:f{a:}<tool_call|>", calls=[bad("call:f{a:}", 9, name="f")])
f.case("no call:", "<|tool_call>f{}<tool_call|>", calls=[bad("f{}", 0)])
f.case("a string that does not end", "<|tool_call>call:f{a:" + Q + "x}", calls=[bad("call:f{a:" + Q + "x}", 16, name="f", truncated=True)])
f.case("the end of the turn", "a<turn|>", content="a", end="message")

f = family("harmony", "jinja/openai-gpt-oss-120b.jinja: <|channel|>, <|message|>, <|end|>, <|call|>, <|return|>")
H = lambda text, **k: f.case(k.pop("name"), text, **k)
H("Hello!", name="no header at all", content="Hello!")
H("", name="nothing at all")
H("<|channel|>final<|message|>51<|return|>", name="an answer", content="51", end="message")
H("<|channel|>analysis<|message|>17*3\n<|end|><|start|>assistant<|channel|>final<|message|>51<|return|>",
  name="a thought, then an answer", reasoning="17*3\n", content="51", end="message")
H("17*3<|end|><|start|>assistant<|channel|>final<|message|>51", name="the prompt opened the thought", reasoning="17*3",
  content="51", start="think")
PARIS = dumps({"city": "Paris"})
H(f"<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{PARIS}<|call|>", name="one call",
  calls=[good("get_weather", {"city": "Paris"})], end="message")
H(f" to=functions.get_weather<|channel|>commentary json<|message|>{PARIS}<|call|>", name="the recipient stands first",
  calls=[good("get_weather", {"city": "Paris"})], end="message")
H(f"<|channel|>analysis<|message|>a<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{dumps(TYPES)}<|call|>",
  name="a thought, then a call of all types", reasoning="a", calls=[good("f", TYPES)], end="message")
H("<|channel|>commentary<|message|>Let me check.<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>",
  name="text, then a call", content="Let me check.", calls=[good("f", {})], end="message")
H("<|channel|>commentary to=functions.f<|message|>{}<|end|><|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>",
  name="two calls", calls=[good("f", {}), good("g", {})], end="message")
H("<|channel|>commentary to=functions.f<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>Done.", name="a call, then text",
  content="Done.", calls=[good("f", {})])
H("<|channel|>commentary to=functions.f<|message|><|call|>", name="empty arguments", calls=[good("f", {})], end="message")
H("<|channel|>analysis to=python code<|message|>print(1)<|call|>", name="code for a tool that is built in",
  calls=[bad("print(1)", 0, name="python")], end="message")
H("<|channel|>commentary to=functions.f<|message|>{\"a\": x}<|call|>", name="broken JSON", calls=[bad("{\"a\": x}", 6, name="f")], end="message")
H("<|channel|>commentary to=functions.f<|message|>{\"a\": 1", name="cut short", calls=[bad("{\"a\": 1", 7, name="f", truncated=True)])
H("<|channel|>commentary to=functions.f<|message|>{\"a\": 1}", name="the closing token was not fed", calls=[good("f", {"a": 1})])
H("<|channel|>commentary to=functions.f<|message|>{\"a\": \"<|call|>\"}<|call|>", name="the closing marker inside a string",
  calls=[good("f", {"a": "<|call|>"})], end="message", spelled=True)
H("<|channel|>analysis<|message|>I could <|channel|>commentary to=functions.f<|message|>{} now.<|end|><|start|>assistant<|channel|>final<|message|>No.",
  name="tool syntax inside a thought is thinking", reasoning="I could <|channel|>commentary to=functions.f<|message|>{} now.", content="No.",
  spelled=True)
H([S("<|channel|>"), "analysis", S("<|message|>"), "Hm.", S("<|channel|>"), "final", S("<|message|>"), "51", S("<|return|>")],
  name="tokens open a header even if nothing was closed", reasoning="Hm.", content="51", end="message")
H([S("<|channel|>"), "commentary to=functions.f ", S("<|constrain|>"), "json", S("<|message|>"), "{}", S("<|call|>")], name="all in tokens",
  calls=[good("f", {})], end="message")
H("<|message|>51<|end|>", name="no channel", content="51")
H("<|channel|>fin", name="half a header")
H("to be or not", name="a word that is no recipient", content="to be or not")
H("<|channel|>final<|message|>a < b <| c <|x|>\n", name="brackets", content="a < b <| c <|x|>\n", spelled=True)

f = family("functionary-3.2", "jinja/meetkai-functionary-medium-v3.2.jinja: >>>NAME, >>>all", ">>>f")
FUN = lambda cs: "".join(">>>" + c for c in cs)
fun_one = lambda n, a: n + "\n" + dumps(a)
f.case("the prompt wrote the >>>", "all\nHello!", content="Hello!")
f.case("the model writes it, too", ">>>all\nHello!", content="Hello!")
f.case("nothing at all", "")
f.case("a call first", fun_one("f", {"a": 1}), calls=[good("f", {"a": 1})])
f.case("no header at all", "Hello there!", content="Hello there!")
f.case("a first line that is no name of a function", "Hello\nthere", content="Hello\nthere")
calling(f, FUN, fun_one, gap="\n", after=False, quoted=False)
f.case("text between calls", FUN([fun_one("f", {}), "all\nHm.", fun_one("g", {})]), content="Hm.",
       calls=[good("f", {}), good("g", {})])
f.case("a doctest is text", "all\n>>> x = 1\n>>>y\nz", content=">>> x = 1", calls=[bad("z", 0, name="y")])
f.case("in a code block", "all\n```\n>>>f\n{}\n```", content="```\n>>>f\n{}\n```", spelled=True)
f.case("code for python", "python\nprint(\">>>all\")\nx = 1", calls=[good("python", {"code": "print(\">>>all\")\nx = 1"})])
f.case("a string with the marker", fun_one("f", {"a": ">>>all\n"}), calls=[good("f", {"a": ">>>all\n"})])
f.case("the end of the turn", [fun_one("f", {}), S("<|eot_id|>")], calls=[good("f", {})], end="message")
f.case("broken JSON", "f\n{x}", calls=[bad("{x}", 1, name="f")])
f.case("cut short", "f\n{\"a\"", calls=[bad("{\"a\"", 4, name="f", truncated=True)])

f = family("functionary-3.1", "jinja/meetkai-functionary-medium-v3.1.jinja: <function=NAME>{...}</function>, <|python_tag|>", "<function=f>")
F31 = lambda cs: "".join(cs)
f31_one = lambda n, a: f"<function={n}>{dumps(a)}</function>"
calling(f, F31, f31_one, gap="\n")
f.case("an answer and nothing else", "Hello!", content="Hello!")
f.case("code", ["<|python_tag|>print(1)", S("<|eom_id|>")], calls=[good("python", {"code": "print(1)"})], end="message")
f.case("text, then code in tokens", ["Ok.\n", S("<|python_tag|>"), "print(1)", S("<|eom_id|>")], content="Ok.",
       calls=[good("python", {"code": "print(1)"})], end="message")
f.case("the marker in a string", f31_one("f", {"a": "</function>"}), calls=[good("f", {"a": "</function>"})], spelled=True)
f.case("a function in prose", "Write <function=f> and so on.", content="Write <function=f> and so on.", spelled=True)
f.case("a marker in prose", "Write <function= and a name.", content="Write <function= and a name.", spelled=True)
f.case("broken JSON", "<function=f>{\"a\"}</function>b", content="b", calls=[bad("<function=f>{\"a\"}", 16, name="f")])
f.case("cut short", "<function=f>{\"a\"", calls=[bad("<function=f>{\"a\"", 16, name="f", truncated=True)])

f = family("glm4", "jinja-gguf/glm4-9b.jinja: NAME, a line break and the arguments")
f.case("an answer and nothing else", "\nHello!", content="\nHello!")
f.case("nothing at all", "")
f.case("one call", "get_weather\n{\"city\": \"Paris\"}", calls=[good("get_weather", {"city": "Paris"})])
f.case("arguments of all types", "search_files\n" + dumps(TYPES), calls=[good("search_files", TYPES)])
f.case("no arguments", "get_time\n{}", calls=[good("get_time", {})])
f.case("the model wants the result", ["f\n{}", S("<|observation|>")], calls=[good("f", {})], end="message")
f.case("the same, spelled", "f\n{}<|observation|>", calls=[good("f", {})], end="message")
f.case("a word and a line", "Hello\nworld", content="Hello\nworld")
f.case("words", "Hello world", content="Hello world")
f.case("a call is not in the middle", "Ok.\nf\n{}", content="Ok.\nf\n{}")
f.case("broken JSON", "f\n{x}", calls=[bad("{x}", 1, name="f")])
f.case("cut short", "f\n{\"a\"", calls=[bad("{\"a\"", 4, name="f", truncated=True)])
f.case("a word at the end", "Hello", content="Hello")

f = family("none", "templates without markers, jinja-gguf/gemma2-2b.jinja and others")
for name, text in (("an answer", "Hello!"), ("nothing at all", ""), ("tags", "<think>a</think>\n<tool_call>{}</tool_call>"),
                   ("white space", " \n\n "), ("brackets", "<<< [[[ {{{"), ("JSON", '{"name": "f", "parameters": {}}'),
                   ("names of tokens", "a<|im_end|>b"), ("half a tag", "<thi"), ("code", "```\nx\n```")):
    f.case(name, text, content=text, spelled=True)
f.case("a token", ["a", S("<|box|>"), "b"], content="ab")
f.case("the end of the turn", ["a", S("</s>")], content="a", end="message")

for f in FAMILIES:
    f.write()
print(sum(len(f.cases) for f in FAMILIES), "cases of", len(FAMILIES), "syntaxes, at least",
      min(len(f.cases) for f in FAMILIES), "each")
