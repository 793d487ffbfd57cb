// Writes the types and resources of the Node.js SDK.

import { camel, pascal } from "./document.mjs";

const HEAD = "// Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.\n\n";

/** Returns the files of `src` that are generated, by name. */
export async function nodeSources(api, version, { openapi, typescript }) {
  return {
    "types.ts": await types(api, openapi, typescript),
    "resources.ts": resources(api),
    "version.ts": `${HEAD}/** The version of this package, which is the version of the server that it is made for. */\nexport const VERSION = ${JSON.stringify(version)};\n`,
  };
}

async function types(api, openapi, typescript) {
  const schemas = Object.fromEntries(Object.entries(api.schemas).map(([name, schema]) => [name, brief(schema, name.endsWith("Params"))]));
  const document = { openapi: "3.1.0", info: { title: "Mailmill", version: "1" }, paths: {}, components: { schemas } };
  const reference = (name) => typescript.factory.createTypeReferenceNode(name);
  const nodes = await openapi.default(document, {
    alphabetize: false,
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true,
    transform(schema) {
      if (schema.format === "binary") return reference("Upload");
      if (schema.contentEncoding === "base64") return reference("Upload");
      return undefined;
    },
  });
  const text = openapi.astToString(nodes);
  // The schemas are the members of one interface. They become types of their own, which editors show by their names.
  const start = text.indexOf("  schemas: {\n") + "  schemas: {\n".length;
  const members = text.slice(start, text.indexOf("\n    };\n", start));
  const named = members
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, "$1")
    .replaceAll(/^ {8}/gm, "")
    .replaceAll(/^(\w+): /gm, "export type $1 = ")
    .replaceAll(/^ *\/\*\* (Format: |@enum|@constant).*\*\/\n/gm, "")
    .replaceAll(/^ *\* (Format: |@enum|@constant).*\n/gm, "")
    .replaceAll(/\/\*\*\n *\* @description (.*)\n *\*\/\n/g, "/** $1 */\n")
    .replaceAll("@description ", "");
  return `${HEAD}import type { Upload } from "./upload.js";\n\n${named}\n`;
}

/**
 * Returns the schema with the first sentences of its descriptions, or without descriptions. The package must stay small, and the
 * descriptions of results are in the API reference.
 */
function brief(schema, described) {
  if (Array.isArray(schema)) return schema.map((one) => brief(one, described));
  if (typeof schema !== "object" || schema === null) return schema;
  const shown = Object.entries(schema).flatMap(([key, value]) => {
    if (key === "properties") return [[key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, brief(one, described)]))]];
    if (key === "description") return described && value ? [[key, firstSentence(value)]] : [];
    return [[key, brief(value, described)]];
  });
  return Object.fromEntries(shown);
}

const firstSentence = (text) => /^.*?[.](?= [A-Z`]|$)/.exec(text.replaceAll("\n", " "))?.[0] ?? text;

function resources(api) {
  const classes = [];
  const visit = (name, resource) => {
    const children = Object.entries(resource.children);
    for (const [child, one] of children) visit(`${name}${pascal(child)}`, one);
    const fields = children.map(([child]) => `  /** @see {@link ${name}${pascal(child)}} */\n  readonly ${camel(child)} = new ${name}${pascal(child)}(${name === "" ? "this" : "this._client"});\n`);
    if (name === "") {
      classes.push(`/**
 * A client of the API.
 *
 * @example
 * \`\`\`ts
 * import { Mailmill } from "mailmill";
 *
 * const mailmill = new Mailmill(); // reads MAILMILL_KEY and MAILMILL_URL
 * for await (const project of mailmill.projects.list()) console.log(project.name);
 * \`\`\`
 */
export class Mailmill extends Client {
${fields.join("")}}`);
      return;
    }
    classes.push(`export class ${name} extends Resource<Mailmill> {\n${[...fields, ...resource.methods.map((one) => (one.poll ? waiting(one) : method(one)))].join("\n")}}`);
  };
  visit("", api.resources);
  return `${HEAD}import { Client, Resource, path, type CallOptions, type WaitOptions } from "./core.js";
import type { List } from "./list.js";
import type * as t from "./types.js";

const at = path;

${classes.join("\n\n")}
`;
}

function method(one) {
  const parameters = one.pathParams.map(({ name, schema }) => `${name}: ${typeOf(schema)}`);
  if (one.params) parameters.push(`params${one.params.required.length > 0 ? "" : "?"}: ${typeOf(one.params.type)}`);
  const result = one.answer ? { json: "Record<string, unknown>", text: "string", bytes: "Uint8Array" }[one.answer] : typeOf(one.result);
  const call = parameters.concat("options?: CallOptions").join(", ");
  const address = one.path.includes("{") ? `at\`${one.path.replaceAll("{", "${")}\`` : JSON.stringify(one.path);
  const params = one.params ? "params" : "undefined";
  const lines = [doc(one)];
  if (one.list) {
    const paging = one.list.items ? `{ items: "${one.list.items}", by: "${one.list.by}" }` : `{ by: "${one.list.by}" }`;
    lines.push(`  ${camel(one.name)}(${call}): List<${result}, ${typeOf(one.list.item)}> {\n    return this._list(${address}, ${paging}, ${params}, options);\n  }\n`);
    return lines.join("");
  }
  const flags = [
    one.keyed && "keyed: true",
    one.form && "form: true",
    one.base64 && `base64: "${one.base64}"`,
    one.answer && `answer: "${one.answer}"`,
  ].filter(Boolean);
  const tail = flags.length > 0 ? `, { ${flags.join(", ")} }` : "";
  lines.push(`  ${camel(one.name)}(${call}): Promise<${result}> {\n    return this._${one.verb.toLowerCase()}(${address}, ${params}, options${tail});\n  }\n`);
  return lines.join("");
}

/** Returns the method that starts a job and waits for its end. */
function waiting({ client, name, start, poll, id, done, failed, fields, result }) {
  if (start.pathParams.length > 0 || !start.params) throw new Error(`${start.client} needs parameters only`);
  const status = typeOf(poll.result);
  const needed = poll.params?.required.map((name) => `${name}: params.${name}`) ?? [];
  const given = needed.length > 0 ? `{ ${needed.join(", ")} }` : "undefined";
  return `${comment([
    `${start.summary}, and wait until the job has ended.`,
    "",
    "@throws JobFailedError if the job fails.",
    ...example(`const status = await mailmill.${member(client)}(${exampleOf(start.params) || "{}"}, {`, "  onProgress: (status) => console.log(status.status),", "});"),
  ])}  ${camel(name)}(params: ${typeOf(start.params.type)}, options?: WaitOptions<${status}>): Promise<${typeOf(result)}> {
    return this._wait(
      (options) => this._client.${member(start.client)}(params, options),
      (started, options) => this._client.${member(poll.client)}(started.${id}, ${poll.params ? `${given}, ` : ""}options),
      { done: ${JSON.stringify(done)}, failed: ${JSON.stringify(failed)}, fields: ${JSON.stringify(fields)} },
      options,
    );
  }
`;
}

const member = (client) => client.split(".").map(camel).join(".");
const example = (...lines) => ["@example", "```ts", ...lines, "```"];

/** Returns the type of a result or of a part of a path. */
function typeOf(schema) {
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.$ref) return `t.${schema.$ref.split("/").at(-1)}`;
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  if (schema.type === "string" || schema.type === "boolean") return schema.type;
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "null") return "null";
  throw new Error(`no type for ${JSON.stringify(schema)}`);
}

/** Longer descriptions are only in the API reference, so that the package stays below 60 KB. */
const ABOUT_MAX = 120;

function doc(one) {
  const lines = [`${one.summary}.`];
  const about = firstSentence(one.about ?? "");
  if (about && about.length <= ABOUT_MAX) lines.push("", about);
  const given = one.pathParams.map(({ name }) => name);
  if (one.params && exampleOf(one.params)) given.push(exampleOf(one.params));
  const call = `mailmill.${member(one.client)}(${given.join(", ")})`;
  lines.push(...example(one.list ? `for await (const item of ${call}) console.log(item);` : `await ${call};`));
  return comment(lines);
}

/** A value that a program must replace: an ID, or a time, which the API rejects once it is past. */
const REPLACED = /^([0-9a-f]{24}|\d{4}-\d\d-\d\dT\d\d:\d\d.*)$/;

/** Returns the required fields of the example, with variables for IDs and times. */
function exampleOf(params) {
  const shown = params.fields.filter(({ name, required }) => required && params.example?.[name] !== undefined);
  const fields = shown.map(({ name }) => (REPLACED.test(params.example[name]) ? name : `${name}: ${JSON.stringify(params.example[name])}`));
  const missing = params.required.some((name) => params.example?.[name] === undefined);
  if (missing) return "params";
  return fields.length > 0 ? `{ ${fields.join(", ")} }` : "";
}

function comment(lines) {
  const body = lines.flatMap((line) => line.split("\n")).map((line) => `   * ${line.replaceAll("*/", "*\\/")}`.trimEnd());
  return `  /**\n${body.join("\n")}\n   */\n`;
}
