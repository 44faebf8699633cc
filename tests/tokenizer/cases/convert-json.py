#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small tokenizers in the form of tokenizer.json, with texts and the ids that npm:tokenizers@0.23.2 made
of them, from lines {"name", "why", "add_special_tokens", "tokenizer", "cases": [{"text", "ids"}]} to the form
that test-json.c reads: the file of the tokenizer as one string.

usage: convert-json.py CASES.jsonl > tokenizers.jsonl
"""
import json
import sys

for line in open(sys.argv[1], encoding='utf-8'):
    case = json.loads(line)
    print(json.dumps({
        'name': case['name'], 'why': case['why'], 'post_processor': case['add_special_tokens'],
        'tokenizer': json.dumps(case['tokenizer'], ensure_ascii=False, separators=(',', ':')),
        'cases': [[one['text'], one['ids']] for one in case['cases']],
    }, ensure_ascii=False, separators=(',', ':')))
