// Prints what the npm package caniemail finds: for each email of a JSON list, [client, title, support] triples. An email is its HTML, or an
// object with `html` and `clients`.
// Usage: node caniemail.mjs EMAILS.json CLIENT …
import { readFileSync } from 'node:fs';
import { caniemail } from 'caniemail';

const [file, ...all] = process.argv.slice(2);
const found = JSON.parse(readFileSync(file, 'utf8')).map((email) => {
  const { html, clients } = typeof email === 'string' ? { html: email, clients: all } : email;
  const triples = [];
  for (const client of clients) {
    let result;
    try {
      result = caniemail({ clients: [client], html });
    } catch {
      continue;
    }
    for (const list of [result.issues.errors, result.issues.warnings]) {
      for (const [key, issues] of list ?? []) {
        for (const issue of issues) triples.push([key, issue.title, issue.support]);
      }
    }
  }
  return triples;
});
console.log(JSON.stringify(found));
