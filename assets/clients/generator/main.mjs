// Generates the API clients from the OpenAPI document: main.mjs TOOLS [check]
//
// TOOLS is a folder in which npm has installed openapi-typescript and typescript. With `check`, nothing is written, and files that differ
// are an error.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readApi } from "./document.mjs";
import { nodeSources } from "./node.mjs";
import { pythonSources } from "./python.mjs";

const [, , toolsFolder, mode] = process.argv;
if (!toolsFolder || (mode !== undefined && mode !== "check")) {
  console.error("usage: main.mjs TOOLS [check]");
  process.exit(2);
}
const clients = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(clients, "../..");
const tools = createRequire(join(resolve(toolsFolder), "package.json"));
const openapi = tools("openapi-typescript");
const typescript = tools("typescript");

const version = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
const api = readApi(JSON.parse(readFileSync(join(root, "tests/snapshots/openapi.json"), "utf8")));

const files = new Map();
for (const [name, text] of Object.entries(await nodeSources(api, version, { openapi, typescript }))) files.set(`node/src/${name}`, text);
for (const [name, text] of Object.entries(pythonSources(api, version))) files.set(`python/src/mailmill/${name}`, text);
/** TABLE: files that contain the version, and the text before it. */
const VERSIONED = [
  ["node/package.json", /("version": ")[^"]+/],
  ["python/pyproject.toml", /^(version = ")[^"]+/m],
  ["python/README.md", /(mailmill-)[0-9][^-]*(?=-py3-)/],
  ["../docs/clients.md", /(mailmill-)[0-9][^-]*(?=-py3-)/],
  ["../docs/python.md", /(mailmill-)[0-9][^-]*(?=-py3-)/],
];
for (const [name, find] of VERSIONED) {
  files.set(name, readFileSync(join(clients, name), "utf8").replace(find, `$1${version}`));
}
compile();

mkdirSync(join(clients, "node/dist"), { recursive: true });
const different = [...files].filter(([name, text]) => !existsSync(join(clients, name)) || readFileSync(join(clients, name), "utf8") !== text);
const extra = readdirSync(join(clients, "node/dist"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(clients, join(entry.parentPath ?? entry.path, entry.name)))
  .filter((name) => !files.has(name));
if (mode === "check") {
  for (const [name] of different) console.error(`assets/clients/${name} is not what the generator writes`);
  for (const name of extra) console.error(`assets/clients/${name} is not written by the generator`);
  process.exit(different.length + extra.length > 0 ? 1 : 0);
}
for (const [name, text] of different) {
  mkdirSync(dirname(join(clients, name)), { recursive: true });
  writeFileSync(join(clients, name), text);
}
for (const name of extra) rmSync(join(clients, name));
console.log(`${different.length} files written, ${extra.length} removed`);

/** Compiles the SDK into `node/dist`: CommonJS with the types, and ES modules. */
function compile() {
  const folder = mkdtempSync(join(tmpdir(), "mailmill-clients-"));
  try {
    cpSync(join(clients, "node/src"), join(folder, "src"), { recursive: true });
    for (const [name, text] of files) {
      if (name.startsWith("node/src/")) writeFileSync(join(folder, relative("node", name)), text);
    }
    cpSync(join(clients, "node/tsconfig.json"), join(folder, "tsconfig.json"));
    const types = join(resolve(toolsFolder), "node_modules/@types");
    const tsc = (kind, out, ...options) => {
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: kind }));
      const program = [tools.resolve("typescript/bin/tsc"), "-p", folder, "--typeRoots", types, "--outDir", join(folder, out), ...options];
      execFileSync(process.execPath, program, { stdio: "inherit" });
      return readdirSync(join(folder, out)).map((name) => [name, compact(readFileSync(join(folder, out, name), "utf8"))]);
    };
    const put = (name, text) => files.set(`node/dist/${name}`, text);
    // A file of types only has no code, and nothing imports it.
    const isCode = (text) => text.replace(/"use strict";|Object\.defineProperty\(exports, "__esModule", \{ value: true \}\);|export \{\};/g, "").trim();
    for (const [name, text] of tsc("commonjs", "cjs", "--declaration", "false", "--removeComments")) {
      if (isCode(text)) put(`cjs/${name}`, shortened(name, text));
    }
    for (const [name, text] of tsc("module", "esm", "--declaration", "false", "--removeComments")) {
      if (isCode(text)) put(`esm/${name}`, shortened(name, text));
    }
    for (const [name, text] of tsc("commonjs", "types", "--emitDeclarationOnly", "--stripInternal")) put(`cjs/${name}`, text);
    // The types of both kinds are the same, so values can be passed between them.
    put("esm/index.d.ts", 'export * from "../cjs/index.js";\n');
    // Bundlers read `sideEffects` from the nearest package.json only.
    put("esm/package.json", '{ "type": "module", "sideEffects": false }\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Shortens the names of parameters in the longest file, because the package may have 60 KB only. The types keep the full names. */
function shortened(name, text) {
  return name === "resources.js" ? text.replace(/\bparams\b/g, "p").replace(/\boptions\b/g, "o") : text;
}

/** Indents with one space instead of four. */
function compact(text) {
  return text.replace(/^( {4})+/gm, (spaces) => " ".repeat(spaces.length / 4));
}
