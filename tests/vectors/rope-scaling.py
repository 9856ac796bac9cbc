#!/usr/bin/env python3
"""Make rope-scaling.json: logits of llama.cpp for tiny models with more keys in their metadata.

    npm i -E @node-llama-cpp/linux-x64@3.21.1
    export NLC_DIR=node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
    tests/vectors/rope-scaling.py ../shared > tests/vectors/rope-scaling.json
"""
import json
import os
import struct
import sys
import tempfile

SHARED = sys.argv[1]
sys.path.insert(0, os.path.join(SHARED, 'models'))
import llama_oracle

CASES = [
    ('mistral3-yarn', {}), ('llama3-rope', {}), ('qwen3', {}), ('smollm3', {}),
    ('qwen2', {'rope.scaling.type': 'linear', 'rope.scaling.factor': 4.0}),
    ('qwen2', {'rope.scaling.factor': 3.0, 'rope.scaling.attn_factor': 1.25}),
    ('qwen2', {'rope.scaling.type': 'none', 'rope.scaling.factor': 3.0}),
    ('llama3-rope', {'rope.scaling.type': 'yarn', 'rope.scaling.factor': 8.0,
                     'rope.scaling.original_context_length': 1024}),
    ('qwen3', {'rope.scaling.type': 'yarn', 'rope.scaling.factor': 2.0,
               'rope.scaling.original_context_length': 4096, 'rope.scaling.attn_factor': 1.5}),
]
IDS = [1] + [3 + (i * i * 7 + i * 13) % 500 for i in range(199)]


def string(s):
    return struct.pack('<Q', len(s)) + s.encode()


def value(v):
    if isinstance(v, str):
        return struct.pack('<I', 8) + string(v)
    return struct.pack('<II', 4, v) if isinstance(v, int) else struct.pack('<If', 6, v)


def with_keys(data, keys):
    """The file with keys in front of its own, and one that keeps the data aligned to 32."""
    n_kv, = struct.unpack_from('<Q', data, 16)
    more = b''.join(string(k) + value(v) for k, v in keys.items()) + string('test.padding')
    fill = '.' * (-(len(more) + 12) % 32)
    more += value(fill)
    return data[:16] + struct.pack('<Q', n_kv + len(keys) + 1) + more + data[24:]


def run(name, keys):
    path = os.path.join(SHARED, 'models/tiny-arch', name + '.gguf')
    prefix = name.split('-')[0].replace('llama3', 'llama') + '.'
    keys = {prefix + k: v for k, v in keys.items()}
    with tempfile.NamedTemporaryFile(suffix='.gguf') as f:
        f.write(with_keys(open(path, 'rb').read(), keys))
        f.flush()
        rows = llama_oracle.Model(f.name).ctx(n_ctx=256).eval(IDS)
    return {'model': 'tiny-arch/' + name + '.gguf', 'keys': keys,
            'at': {str(p): [float('%.6g' % x) for x in rows[p][:48]] for p in (70, 199)}}


print('{"origin": %s,' % json.dumps(
    'llama.cpp v0.4.0 (npm @node-llama-cpp/linux-x64 3.21.1), CPU, F32 cache; the first 48 '
    'logits behind some positions of one 200-token prompt, with keys added to the file'))
print('"ids": %s,' % json.dumps(IDS))
print('"cases": [')
print(',\n'.join(json.dumps(run(*c)) for c in CASES))
print(']}')
