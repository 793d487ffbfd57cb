// Prints what the npm package doiuse-email finds: for each case of a JSON list, [client, title] pairs.
// Usage: node doiuse.mjs CASES.json
import { readFileSync } from 'node:fs';
import { doIUseEmail } from 'doiuse-email';

const found = JSON.parse(readFileSync(process.argv[2], 'utf8')).map(({ html, clients }) => {
  const pairs = [];
  for (const client of clients) {
    let result;
    try {
      result = doIUseEmail(html, { emailClients: [client] });
    } catch {
      continue;
    }
    for (const line of [...(result.errors ?? []), ...result.warnings]) {
      const title = line.match(/`(.+?)` is (?:not|only partially) supported/)?.[1];
      if (title) pairs.push([client, title]);
    }
  }
  return pairs;
});
console.log(JSON.stringify(found));
