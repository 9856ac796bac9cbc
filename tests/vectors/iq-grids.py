#!/usr/bin/env python3
"""Make backend/quants_iq_tables.c and tests/vectors/iq-codes.json: the grids of the IQ
types, read out of ggml by letting it dequantise blocks that hold every entry once; and such
blocks with random scales and signs, and a hash of the floats that ggml makes of them.

    npm i -E @node-llama-cpp/linux-x64@3.21.1
    export NLC_DIR=node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
    tests/vectors/iq-grids.py tables > backend/quants_iq_tables.c
    tests/vectors/iq-grids.py codes > tests/vectors/iq-codes.json
"""
import ctypes
import json
import os
import random
import struct
import sys

ggml = ctypes.CDLL(os.path.join(os.environ['NLC_DIR'], 'libggml-base.so'))

HEAD = '''/* The grids of the IQ types (backend/quants_iq.h), in ascending order; nothing but
 * tables, so this file may be long. Made by tests/vectors/iq-grids.py from what ggml
 * (llama.cpp v0.4.0, npm @node-llama-cpp/linux-x64 3.21.1) makes of each entry. */
#include "config.h"

#include "backend/quants_iq.h"
'''


def dequantise(kind, blocks, n):
    f = getattr(ggml, 'dequantize_row_' + kind)
    f.restype = None
    f.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_float), ctypes.c_int64]
    out = (ctypes.c_float * n)()
    f(blocks, out, n)
    return out


def upper(ix, width, count, form):
    """Bits 8 and above of each entry, `width` bits each, `count` to a number."""
    words = [sum((i >> 8) << (width * k) for k, i in enumerate(ix[j:j + count]))
             for j in range(0, len(ix), count)]
    return struct.pack('<%d%s' % (len(words), form), *words)


# How a block is made of its entries, of d (bytes) and of r(n), all other bytes.
def iq2_xxs(ix, d, r):
    return d + b''.join(bytes(ix[g:g + 4]) + r(4) for g in range(0, 32, 4))


def iq2_xs(ix, d, r):
    signs = r(32)
    words = (i | (s & 127) << 9 for i, s in zip(ix, signs))
    return d + struct.pack('<32H', *words) + r(8)


def iq2_s(ix, d, r):
    return d + bytes(i & 255 for i in ix) + r(32) + upper(ix, 2, 4, 'B') + r(8)


def iq3_xxs(ix, d, r):
    return d + bytes(ix) + r(32)


def iq3_s(ix, d, r):
    return d + bytes(i & 255 for i in ix) + upper(ix, 1, 8, 'B') + r(32) + r(4)


def iq1_s(ix, d, r):
    high = struct.unpack('<8H', upper(ix, 3, 4, 'H'))
    rest = r(8)
    return d + bytes(i & 255 for i in ix) + struct.pack(
        '<8H', *(h | (x & 15) << 12 for h, x in zip(high, rest)))


def iq1_m(ix, d, r):
    rest = r(16)
    high = bytes(h | x & 0x88 for h, x in zip(upper(ix, 4, 2, 'B'), rest))
    half = struct.unpack('<H', d)[0]
    scale = struct.unpack('<4H', r(8))
    return bytes(i & 255 for i in ix) + high + struct.pack(
        '<4H', *(s & 0xfff | (half >> 4 * k & 15) << 12 for k, s in enumerate(scale)))


# kind: (maker, entries, elements of one, bits of an element, d for whole values)
KINDS = {
    'iq2_xxs': (iq2_xxs, 256, 8, 2, 8), 'iq2_xs': (iq2_xs, 512, 8, 2, 8),
    'iq2_s': (iq2_s, 1024, 8, 2, 8), 'iq3_xxs': (iq3_xxs, 256, 4, 3, 4),
    'iq3_s': (iq3_s, 512, 4, 3, 1), 'iq1_s': (iq1_s, 2048, 8, 2, 1),
    'iq1_m': (iq1_m, 2048, 8, 2, 1),
}
NAMES = {'iq1_s': 'iq1'}


def blocks(kind, d, r):
    make, entries, group = KINDS[kind][:3]
    step = 256 // group
    starts = range(0, entries, step)
    return b''.join(make(list(range(i, i + step)), d(), r) for i in starts)


def tables():
    print(HEAD, end='')
    for kind, (_, entries, group, bits, unit) in KINDS.items():
        if kind == 'iq1_m':
            continue
        d = struct.pack('<e', unit)
        x = dequantise(kind, blocks(kind, lambda: d, bytes), entries * group)
        values = sorted(set(x))
        code = [sum(values.index(v) << bits * k for k, v in enumerate(x[i:i + group]))
                for i in range(0, len(x), group)]
        assert len(set(code)) == entries and code == sorted(code)
        assert len(values) <= 1 << bits
        name = NAMES.get(kind, kind)
        print('\nconst uint16_t be_grid_%s[BE_GRID_%s] = {' % (name, name.upper()))
        for i in range(0, entries, 12):
            print('    ' + ' '.join('%d,' % c for c in code[i:i + 12]))
        print('};')


def codes():
    rng = random.Random(4)
    out = {'what': 'blocks with every entry of the grid once, and the FNV-1a hash (64 bits) '
                   'of the little-endian floats that ggml makes of them',
           'made_by': 'tests/vectors/iq-grids.py', 'types': {}}
    for kind, (_, entries, group, _, _) in KINDS.items():
        b = blocks(kind, lambda: struct.pack('<e', rng.uniform(-2, 2)), rng.randbytes)
        n = entries * group
        h = 0xcbf29ce484222325
        for byte in bytes(dequantise(kind, b, n)):
            h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
        out['types'][kind.upper()] = {'n': n, 'blocks_hex': b.hex(), 'fnv1a': '%016x' % h}
    json.dump(out, sys.stdout, indent=1)
    print()


if sys.argv[1:] == ['tables']:
    tables()
elif sys.argv[1:] == ['codes']:
    codes()
else:
    sys.exit(__doc__)
