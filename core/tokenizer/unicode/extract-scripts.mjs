// SPDX-License-Identifier: MIT
// Writes the scripts of one Unicode version as plain ranges.
//   npm pack @unicode/unicode-9.0.0; tar xzf unicode-unicode-9.0.0-*.tgz
//   node extract-scripts.mjs package > scripts-9.0.0.txt
import { pathToFileURL } from "node:url";
import { readFileSync, readdirSync } from "node:fs";

const root = process.argv[2];
const meta = JSON.parse(readFileSync(`${root}/package.json`));
const hex = (c) => c.toString(16).toUpperCase().padStart(4, "0");
const rows = [];
for (const name of readdirSync(`${root}/Script`).sort()) {
  if (name === "Unknown") continue;
  const module = await import(pathToFileURL(`${root}/Script/${name}/code-points.mjs`));
  const points = [...module.default].sort((a, b) => a - b);
  for (let i = 0; i < points.length;) {
    let j = i;
    while (j + 1 < points.length && points[j + 1] === points[j] + 1) j++;
    rows.push([points[i], `${name} ${hex(points[i])}..${hex(points[j])}`]);
    i = j + 1;
  }
}
console.log("# SPDX-License-Identifier: MIT AND Unicode-3.0");
console.log(`# From ${meta.name}@${meta.version} (npm, ${meta.license}) by extract-scripts.mjs`);
for (const [, row] of rows.sort((a, b) => a[0] - b[0])) console.log(row);
