#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-pages.py PAGE... --tools TOOL...: the options of each page are those of the tool's --help, with the
same arguments; each tool has a page; man and mandoc find no fault. TAP."""
import os
import re
import shutil
import subprocess
import sys


def options_of_help(text):
    """{"--name": argument, or None}: short names too."""
    options = {}
    for short, name, argument in re.findall(r"^ +(?:(-\w), )?(--[\w-]+)(?:=(\S+))?", text, re.M):
        options[name] = argument or None
        if short:
            options[short] = argument or None
    return options


def options_of_page(text):
    options = {}
    for line in re.findall(r"^\.It (Fl .*)$", text, re.M):
        line = re.sub(r"Fl Fl (\S+)", r"--\1", line)
        line = re.sub(r"Fl (\S+)", r"-\1", line)
        line = line.replace(" Ns Op =", " Ns =")
        line, _, argument = line.partition(" Ns = Ns Ar ")
        for name in line.split(" , "):
            options[name] = argument or None
    return options


def compare(tool, page):
    """What differs, as a list of lines."""
    run = subprocess.run([tool, "--help"], capture_output=True, text=True, check=False)
    told = options_of_help(run.stdout)
    with open(page, encoding="utf-8") as file:
        written = options_of_page(file.read())
    faults = [] if run.returncode == 0 and told else [f"{tool} --help: exit code {run.returncode}, {len(told)} options"]
    for name in sorted(told.keys() | written.keys()):
        if name not in written:
            faults.append(f"{page} lacks {name}")
        elif name not in told:
            faults.append(f"{tool} has no {name}, which {page} has")
        elif told[name] != written[name]:
            faults.append(f"{name}: argument {told[name]} in {tool} --help, {written[name]} in {page}")
    return faults


def lint(command, page):
    environment = dict(os.environ, LC_ALL="C.UTF-8", MANROFFSEQ="", MANWIDTH="80")
    run = subprocess.run(command + [page], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    # The first finds nothing in a page, the second prints the page itself.
    words = run.stdout if command[0] == "mandoc" else re.sub(r"(?s)^x T .*?^x stop$", "", run.stdout, flags=re.M)
    # Other pages need not be installed where this one is looked at.
    elsewhere = ("referenced manual not found", "mandoc.db")
    faults = [line for line in words.splitlines() if line.strip() and not any(text in line for text in elsewhere)]
    return faults or ([f"exit code {run.returncode}"] if run.returncode not in (0, 1) else [])


class Tap:
    count = failed = 0

    def point(self, name, faults, skip=None):
        self.count += 1
        self.failed += bool(faults)
        print(("not ok" if faults else "ok"), self.count, name + (f" # SKIP {skip}" if skip else ""))
        for fault in faults:
            print("#", fault)


def self_test(tap):
    """That a difference is seen."""
    told = options_of_help("Usage:\n  -v, --verbose   Say more, see --other\n  --state=DIR     Where\n")
    written = options_of_page(".It Fl v , Fl Fl verbose\n.It Fl Fl state Ns = Ns Ar DIR\n")
    same = {"-v": None, "--verbose": None, "--state": "DIR"}
    tap.point("self-test: help", [] if told == same else [f"{told}"])
    tap.point("self-test: page", [] if written == same else [f"{written}"])


def main():
    arguments = sys.argv[1:]
    pages, tools = arguments[:arguments.index("--tools")], arguments[arguments.index("--tools") + 1:]
    by_name = {os.path.basename(page): page for page in pages}
    tap = Tap()
    self_test(tap)
    for tool in tools:
        name = os.path.basename(tool)
        page = by_name.get(name + ".1")
        tap.point(f"options of {name}", compare(tool, page) if page else [f"{name} has no page"])
    for command in (["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"], ["mandoc", "-Tlint"]):
        for page in pages:
            name = f"{command[0]}: {os.path.basename(page)}"
            if shutil.which(command[0]):
                tap.point(name, lint(command, page))
            else:
                tap.point(name, [], f"there is no {command[0]} here")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
