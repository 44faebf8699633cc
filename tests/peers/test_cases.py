#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The texts of tokenizer-cases.jsonl, each with the ids that the reference made of it.

usage: test_cases.py CHECK_CASES VOCAB_DIR: the program check-cases of tests/tokenizer. Prints TAP.
"""
import os
import subprocess
import sys

import peer_models

ENCODINGS = ['claude', 'deepseek_v3', 'gemma3', 'llama2', 'llama3', 'mistral_v1', 'qwen3']


def check(program, model, encoding):
    cases = os.path.join(peer_models.HERE, 'tokenizer-cases.jsonl')
    done = subprocess.run([program, model, cases, encoding], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    *differences, last = done.stdout.strip().split('\n')
    if done.returncode:
        print('\n'.join(differences)[:4000])
        raise AssertionError(last)
    return last


def main():
    program, vocab = sys.argv[1:3]
    os.environ['DLPIPE_VOCAB_PATH'] = vocab
    tests = [(name, lambda n=name: check(program, n, n)) for name in peer_models.RANKS]
    tests += [(name, lambda n=name: check(program, peer_models.find_model(n), n))
              for name in ENCODINGS]
    peer_models.run_tests(tests)


if __name__ == '__main__':
    main()
