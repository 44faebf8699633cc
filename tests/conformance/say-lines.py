#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the model of record order says of a configuration, in lines as make-configs.py sums them up.

    say-lines.py CONFIG.json
"""
import importlib
import json
import sys

configs = importlib.import_module("make-configs")

with open(sys.argv[1], encoding="utf-8") as file:
    for index, records in configs.order_model.batches(json.load(file)):
        sys.stdout.write(configs.to_line(index, records))
