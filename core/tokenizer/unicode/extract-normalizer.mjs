// SPDX-License-Identifier: MIT
// Writes what normalizers need to know of Unicode, each part of the version that the reference uses.
//   for v in 8 9 17; do npm pack @unicode/unicode-$v.0.0; mkdir -p $v
//     tar xzf unicode-unicode-$v.0.0-*.tgz -C $v; done
//   node extract-normalizer.mjs /usr/share/unicode 8/package 9/package 17/package > normalizer.txt
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [debian, unicode8, unicode9, unicode17] = process.argv.slice(2);
const LAST_AGE = 9.0;
const hex = (c) => c.toString(16).toUpperCase().padStart(4, "0");
const load = async (root, path) =>
  (await import(pathToFileURL(`${root}/${path}/code-points.mjs`))).default;

function* rows(name) {
  for (const line of readFileSync(`${debian}/${name}`, "utf8").split("\n")) {
    const cells = line.split("#")[0].split(";").map((cell) => cell.trim());
    if (cells[0]) yield cells;
  }
}

function span(text) {
  const [first, last] = text.split("..").map((part) => parseInt(part, 16));
  return [first, last ?? first];
}

function printRanges(name, points) {
  const sorted = [...points].sort((a, b) => a - b);
  for (let i = 0, j; i < sorted.length; i = j) {
    for (j = i + 1; j < sorted.length && sorted[j] === sorted[j - 1] + 1;) j++;
    console.log(`${name} ${hex(sorted[i])}..${hex(sorted[j - 1])}`);
  }
}

// Runs of points whose targets grow as they do, by steps of 1 or 2.
function printRuns(name, pairs) {
  for (let i = 0, j; i < pairs.length; i = j) {
    const [from, to] = pairs[i];
    const step = pairs[i + 1]?.[0] === from + 2 && pairs[i + 1][1] === to + 2 ? 2 : 1;
    for (j = i + 1; j < pairs.length;) {
      const by = (j - i) * step;
      if (pairs[j][0] !== from + by || pairs[j][1] !== to + by) break;
      j++;
    }
    console.log(`${name} ${hex(from)}..${hex(pairs[j - 1][0])} ${step} ${hex(to)}`);
  }
}

const old = new Set();
for (const [range, age] of rows("DerivedAge.txt")) {
  const [first, last] = span(range);
  if (parseFloat(age) <= LAST_AGE) for (let c = first; c <= last; c++) old.add(c);
}

const classes = new Map();
const canonical = [], compatible = [], compatibleOne = [];
for (const [code, , , ccc, , mapping] of rows("UnicodeData.txt")) {
  const c = parseInt(code, 16);
  if (!old.has(c)) continue;
  if (ccc !== "0") classes.set(ccc, [...(classes.get(ccc) ?? []), c]);
  const parts = mapping ? mapping.split(" ") : [];
  if (parts.length === 0) continue;
  if (!parts[0].startsWith("<")) canonical.push([c, parts]);
  else if (parts.length > 2) compatible.push([c, parts.slice(1)]);
  else compatibleOne.push([c, parseInt(parts[1], 16)]);
}

console.log("# SPDX-License-Identifier: MIT AND Unicode-3.0");
console.log("# By extract-normalizer.mjs; see README.md");
for (const [ccc, points] of [...classes].sort((a, b) => a[0] - b[0]))
  printRanges(`class ${ccc}`, points);
for (const [c, parts] of canonical) console.log(`canonical ${hex(c)} ${parts.join(" ")}`);
for (const [c, parts] of compatible) console.log(`compatible ${hex(c)} ${parts.join(" ")}`);
printRuns("compatible-run", compatibleOne);
const excluded = [];
for (const [range] of rows("CompositionExclusions.txt")) {
  const [first, last] = span(range);
  for (let c = first; c <= last; c++) if (old.has(c)) excluded.push(c);
}
printRanges("excluded", excluded);

const lower = [...await load(unicode17, "Simple_Case_Mapping/Lowercase")];
printRuns("lower", lower.sort((a, b) => a[0] - b[0]));

const category = (root, name) => load(root, `General_Category/${name}`);
printRanges("mark", [...await category(unicode9, "Mark")]);
printRanges("nonspacing", [...await category(unicode8, "Nonspacing_Mark")]);
for (const name of ["Control", "Format", "Private_Use"])
  printRanges("control", [...await category(unicode8, name)]);

for (const name of ["Control", "CR", "LF", "Extend", "ZWJ", "SpacingMark", "Prepend",
                    "Regional_Indicator", "L", "V", "T"])
  printRanges(`grapheme ${name}`, [...await load(unicode17, `Grapheme_Cluster_Break/${name}`)]);
printRanges("pictographic", [...await load(unicode17, "Binary_Property/Extended_Pictographic")]);
printRanges("linker", [...await load(unicode17, "Indic_Conjunct_Break/Linker")]);
printRanges("consonant", [...await load(unicode17, "Indic_Conjunct_Break/Consonant")]);
