// Writes what each common English word can be: a noun, a verb form, an adjective. The source is the lexicon of the Brill tagger, by its npm name.
// The file has the hashes of the words in order (FNV-1a, 64 bits, cut to 5 bytes), and then two bytes with flags for each word
// (src/engine/spelling/classes.rs). Run: node classes.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = "brill@3.1.0";
const here = dirname(fileURLToPath(import.meta.url));
const flags = { NN: 1, NNS: 2, VB: 4, VBZ: 8, VBD: 16, VBN: 32, VBG: 64, JJ: 128, RB: 256, OTHER: 512, JJR: 1024, JJS: 2048 };

const folder = mkdtempSync(join(tmpdir(), "classes-"));
const archive = execFileSync("npm", ["pack", "--silent", source], { cwd: folder, encoding: "utf8" }).trim();
execFileSync("tar", ["xf", archive], { cwd: folder });
const { brill } = await import(pathToFileURL(join(folder, "package", "index.js")));
writeFileSync(join(here, "classes.license.txt"), readFileSync(join(folder, "package", "license")));
rmSync(folder, { recursive: true });

const words = new Map();
const base = { VBP: "VB", RBR: "JJR", RBS: "JJS" };
for (const [word, tags] of Object.entries(brill)) {
  if (!/^[a-z]+(-[a-z]+)*$/.test(word)) continue;
  // The tags come with the most frequent first. Those in combinations, such as VBG|NN, were doubtful to their annotators.
  const own = new Set(tags.filter((tag) => tag).flatMap((tag) => tag.split("|")).map((tag) => base[tag] ?? tag));
  let bits = 0;
  for (const tag of own) {
    if (tag === "NNP" || tag === "NNPS" || tag === "FW" || tag === "SYM" || tag === "LS") continue;
    bits |= flags[tag] ?? (/^[A-Z]/.test(tag) ? flags.OTHER : 0);
  }
  words.set(word, bits);
}
// The tagged texts have mistakes: "started" is no base form, and "come" no third person.
const has = (word, flag) => (words.get(word) ?? 0) & flag;
for (const [word, bits] of words) {
  let kept = bits;
  if (!word.endsWith("s")) kept &= ~(flags.VBZ);
  if (!word.endsWith("ing")) kept &= ~flags.VBG;
  if (word.endsWith("ing") && kept & flags.VBG) kept &= ~flags.VB;
  if (word.endsWith("ed") && has(word.slice(0, -2), flags.VB) | has(word.slice(0, -1), flags.VB)) kept &= ~(flags.VB | flags.NN);
  if (word.endsWith("s") && !word.endsWith("ss") && kept & (flags.VBZ | flags.NNS)) kept &= ~(flags.VB | flags.NN | flags.JJ | flags.RB);
  words.set(word, kept);
}
// A word with both other forms is a verb, even if the texts have only its noun.
for (const [word, bits] of words) {
  const third = has(word + "s", flags.VBZ) | has(word + "es", flags.VBZ);
  const stem = word.endsWith("e") ? word.slice(0, -1) : word;
  if (third && has(stem + "ing", flags.VBG)) words.set(word, bits | flags.VB);
}

// Other tags come from a few mistaken places in the tagged texts.
const keepsAdverb = new Set(["home", "tomorrow", "today", "tonight", "yesterday"]);
const first = (word) => base[brill[word][0]] ?? brill[word][0];
for (const [word, bits] of words) {
  let kept = bits;
  const third = (words.get(word + "s") ?? 0) | (words.get(word + "es") ?? 0);
  const past = (words.get(word + "d") ?? 0) | (words.get(word + "ed") ?? 0);
  const stem = word.endsWith("e") ? word.slice(0, -1) : word;
  if (kept & flags.VB && past & (flags.VBN | flags.VBD)) kept &= ~(flags.VBN | flags.VBD);
  if (kept & flags.RB && words.has(word + "ly")) kept &= ~flags.RB;
  if (kept & flags.RB && first(word) === "NN" && !keepsAdverb.has(word)) kept &= ~flags.RB;
  if (kept & flags.NN && first(word) === "VB" && third && !(third & flags.NNS)) kept &= ~flags.NN;
  if (kept & flags.VB && first(word) === "NN" && !(third & flags.VBZ) && !has(stem + "ing", flags.VBG)) kept &= ~flags.VB;
  words.set(word, kept || bits);
}

// Words that are the same in the singular and the plural, or in the base and the participle.
for (const word of ["series", "species", "means", "headquarters", "news", "grassroots", "ways", "works", "crossroads", "aircraft"]) {
  if (words.has(word)) words.set(word, words.get(word) | flags.NN | flags.NNS);
}
for (const [word, bits] of words) if (word.endsWith("ics")) words.set(word, bits | flags.NN);
const unchanged = "become come run overcome put set cut hit let hurt cost shut split spread bet quit read beat cast burst rid upset reset offset broadcast forecast";
for (const word of unchanged.split(" ")) words.set(word, (words.get(word) ?? 0) | flags.VB | flags.VBN);

// Past tenses that are also the bases of other verbs: "founded" does not show that "found" is only a base.
for (const word of ["found", "wound", "ground", "bound"]) words.set(word, (words.get(word) ?? 0) | flags.VBD | flags.VBN);

const hash = (word) => {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(word)) value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return value & 0xffffffffffn;
};
const rows = [...words].filter(([, bits]) => bits).map(([word, bits]) => [hash(word), bits]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
const bytes = Buffer.alloc(rows.length * 7);
rows.forEach(([value, bits], at) => {
  bytes.writeUIntBE(Number(value), at * 5, 5);
  bytes.writeUInt16BE(bits, rows.length * 5 + at * 2);
});
writeFileSync(join(here, "english.classes"), bytes);
console.log(rows.length, "words,", bytes.length, "bytes");
