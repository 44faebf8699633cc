#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-digest-reference.py LAUNCH STATE: what runs report is what digest.py makes of their output. TAP."""
import json
import os
import subprocess
import sys
import tempfile

REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'digest.py')
KNOWN = 'ef9c1f678cb3d4bb6a6de6ac3694f716-79668b4ed26981edbbba0d1f9acd304a'
FIELDS = 'fields="n:int64,big:uint64,x:double?,flag:boolean?,note:string?"'
TYPES = ['text:string', 'n:int64', 'big:uint64', 'x:double', 'flag:boolean', 'note:string']
CASES = [  # what, graph, fields
    ('text', 'file-source location=?.jsonl ! jsonl-reader', ['text:string']),
    ('all types', 'file-source location=?.jsonl ! jsonl-reader ' + FIELDS, TYPES),
    ('shuffled, twice, in rotation', 'file-source location=?.jsonl epochs=2 shuffle=true reshuffle=true ! jsonl-reader '
     'interleave=2 ' + FIELDS + ' ! shuffle size=20', TYPES),
    ('a mix of sources', 'file-source location=a.jsonl ! jsonl-reader ! m. file-source location=b.jsonl ! jsonl-reader ! '
     'm. mix name=m', ['text:string']),
    ('tokens', 'file-source location=?.jsonl ! jsonl-reader ! tokenizer model=gpt2', ['tokens:list<uint16>']),
    ('lists', 'file-source location=?.jsonl ! jsonl-reader field="" '
     'fields="a=v:i32[],b=v:i64[],c=v:f32[],d=v:f64[],e=w:u16[],f=w:u32[4] pad=7 cut=true"',
     ['a:list<int32>', 'b:list<int64>', 'c:list<float>', 'd:list<double>', 'e:list<uint16>', 'f:list<uint32>']),
    ('nothing', 'file-source location=empty ! jsonl-reader', ['text:string']),
]


def write_inputs():
    for name, n in (('a.jsonl', 70), ('b.jsonl', 33)):
        with open(name, 'w', encoding='utf-8') as file:
            for i in range(n):
                line = {'text': '%s %d %s' % (name, i, 'ä\n"' * (i % 4)), 'n': -i, 'big': (1 << 64) - 1 - i,
                        'x': i / 7 if i % 3 else None, 'flag': (None, True, False)[i % 3],
                        'note': None if i % 2 else '', 'v': list(range(-i, i % 9)), 'w': list(range(i))}
                file.write(json.dumps(line) + '\n')
    with open('empty', 'w', encoding='utf-8'):
        pass


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print('\n'.join('# ' + line for line in (done.stderr or done.stdout).splitlines()))
    return done.stdout


def reported(state, output):
    """The digest of the sink, as the state has it."""
    elements = json.loads(run(state, 'show', '--json', output))['elements']
    return [element['digest'] for element in elements if element['factory'] == 'jsonl-sink'][0]


def main():
    launch, state = map(os.path.abspath, sys.argv[1:])
    points = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_inputs()
        with open('one', 'w', encoding='utf-8') as file:
            json.dump(dict.fromkeys(('stage', 'source', 'file', 'row', 'epoch', 'part'), 0) | {'text': 'hello'}, file)
        points.append(('the one of the documentation', run(REFERENCE, 'one', 'text:string').strip(), KNOWN))
        for i, (what, graph, fields) in enumerate(CASES):
            output = 'out-%d.jsonl' % i
            run(launch, '--seed=5', graph + ' ! jsonl-sink coordinates=true location=' + output)
            points.append((what, run(REFERENCE, output, *fields).strip(), reported(state, output)))
        os.chdir('/')
    print('1..%d' % len(points))
    for what, made, wanted in points:
        print('%s - %s' % ('ok' if made and made == wanted else 'not ok', what))
        if made != wanted:
            print('# the reference says %s, the run %s' % (made, wanted))
    return 0


if __name__ == '__main__':
    sys.exit(main())
