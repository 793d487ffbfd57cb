// Prints what the npm package harper.js finds: for each text of a JSON list, [start, end] pairs in characters.
// Usage: node harper.mjs TEXTS.json
import { readFileSync } from 'node:fs';
import * as harper from 'harper.js';

// Newer versions export the binary from a module of its own.
const binary = harper.binary ?? (await import('harper.js/binary')).binary;
const linter = new harper.LocalLinter({ binary });
const found = [];
for (const text of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const lints = await linter.lint(text, { language: 'plaintext' });
  found.push(lints.map((lint) => [lint.span().start, lint.span().end]));
}
console.log(JSON.stringify(found));
