// Writes the types and resources of the Python client.

import { pascal, snake } from "./document.mjs";

const HEAD = "# Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.\n\n";

/** Words that cannot be names in Python. */
const KEYWORDS = new Set([
  "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
  "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
  "while", "with", "yield",
]);
/** Arguments that methods have for themselves. */
const RESERVED = new Set(["self", "request_options", "on_progress", "poll_interval", "wait_timeout"]);
const LINE = 110;

const ident = (name) => {
  const text = snake(name);
  if (RESERVED.has(text)) throw new Error(`a field has the name ${text}`);
  return KEYWORDS.has(text) ? `${text}_` : text;
};

/** Returns the files of the package that are generated, by name. */
export function pythonSources(api, version) {
  // The fields of `…Params` are arguments of the methods.
  const schemas = Object.fromEntries(Object.entries(api.schemas).filter(([name]) => !name.endsWith("Params")));
  const types = new Types(schemas);
  const sync = resources(api, types, false);
  const asynchronous = resources(api, types, true);
  return {
    "types.py": types.text(),
    "_sync.py": sync,
    "_async.py": asynchronous,
    "_version.py": `${HEAD}VERSION = ${JSON.stringify(version)}\n`,
  };
}

/** Collects the named types; an object inside another type gets the name of its place. */
class Types {
  constructor(schemas) {
    this.parts = new Map();
    this.sources = new Map();
    for (const [name, schema] of Object.entries(schemas)) this.define(name, schema);
  }

  text() {
    const parts = [...this.parts].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, text]) => text);
    return `${HEAD}"""The types of the API: objects have the API's own field names."""

from __future__ import annotations

import typing as _t


${parts.join("\n\n").trimEnd()}
`;
  }

  define(name, schema) {
    // The arguments of both clients have the same inner objects.
    const source = JSON.stringify(schema);
    if (this.sources.get(name) === source) return;
    if (this.sources.has(name)) throw new Error(`two types have the name ${name}`);
    this.sources.set(name, source);
    this.parts.set(name, isRecord(schema) ? this.record(name, schema) : `${name} = ${this.alias(name, schema)}\n${docstring(schema.description, "")}`);
  }

  /** An object with known fields. Python 3.10 has no `NotRequired`, so the required fields are in a base of their own. */
  record(name, schema) {
    const fields = Object.entries(schema.properties).map(([field, one]) => ({
      field,
      type: this.expression(one, `${name}${pascal(field)}`),
      about: one.description,
      required: (schema.required ?? []).includes(field),
    }));
    const body = (some) => some.map((one) => `    ${one.field}: ${one.type}\n${docstring(one.about, "    ")}`).join("");
    const isWord = ({ field }) => KEYWORDS.has(field);
    const bases = [];
    let text = "";
    for (const [required, total] of [[true, ""], [false, ", total=False"]]) {
      // A class cannot have a field that is a word of Python, such as `from`.
      const words = fields.filter((one) => one.required === required && isWord(one));
      if (words.length === 0) continue;
      bases.push(`_${name}${required ? "Required" : ""}Words`);
      const items = words.map((one) => `${JSON.stringify(one.field)}: ${JSON.stringify(one.type)}`).join(", ");
      text += `${bases.at(-1)} = _t.TypedDict("${bases.at(-1)}", {${items}}${total})\n\n\n`;
    }
    const required = fields.filter((one) => one.required && !isWord(one));
    const optional = fields.filter((one) => !one.required && !isWord(one));
    if (required.length > 0 && optional.length > 0) {
      bases.push(`_${name}Required`);
      text += `class ${bases.at(-1)}(_t.TypedDict):\n${body(required)}\n\n`;
    }
    const own = optional.length > 0 ? optional : required;
    const total = optional.length > 0 ? ", total=False" : "";
    const inside = `${docstring(schema.description, "    ")}${body(own)}` || "    pass\n";
    return `${text}class ${name}(${bases.join(", ") || "_t.TypedDict"}${total}):\n${inside}`;
  }

  /** The value of a name, which Python evaluates: unions of names that follow are in quotes. */
  alias(name, schema) {
    if (schema.enum || "const" in schema) return this.expression(schema, name);
    const text = this.expression(schema, `${name}Value`);
    return /^_t\.\w+$/.test(text) ? text : `_t.Union[${JSON.stringify(text)}]`;
  }

  /** Returns the expression of a type. `place` names an object that has no name of its own. */
  expression(schema, place, prefix = "") {
    const inner = (one, suffix = "") => this.expression(one, `${place}${suffix}`, prefix);
    if (schema.$ref) return prefix + schema.$ref.split("/").at(-1);
    if (schema.enum) return `_t.Literal[${schema.enum.map(literal).join(", ")}]`;
    if ("const" in schema) return `_t.Literal[${literal(schema.const)}]`;
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return union(choices.map((one, index) => inner(one, index === 0 ? "" : `${index + 1}`)));
    if (schema.allOf) {
      if (schema.allOf.length !== 1) throw new Error(`${place} is several types at once`);
      return inner(schema.allOf[0]);
    }
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => inner({ ...schema, type })));
    if (schema.type === "array") return `_b.list[${schema.items ? inner(schema.items, "Item") : "_t.Any"}]`.replace("_b.", prefix ? "_b." : "");
    if (isRecord(schema)) {
      this.define(place, schema);
      return prefix + place;
    }
    if (schema.type === "object") {
      const values = schema.additionalProperties;
      return `dict[str, ${typeof values === "object" ? inner(values, "Value") : "_t.Any"}]`;
    }
    return { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" }[schema.type] ?? "_t.Any";
  }
}

const isRecord = (schema) => schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0;
const literal = (value) => (value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value));
const union = (texts) => {
  const unique = [...new Set(texts.flatMap((text) => text.split(" | ")))];
  if (unique.includes("_t.Any")) return "_t.Any";
  return [...unique.filter((text) => text !== "None"), ...unique.filter((text) => text === "None")].join(" | ");
};

function resources(api, types, isAsync) {
  const base = isAsync ? "AsyncResource" : "Resource";
  const name = (path) => (isAsync ? "Async" : "") + path.map(pascal).join("");
  const classes = [];
  const visit = (path, resource) => {
    const children = Object.entries(resource.children);
    for (const [child, one] of children) visit([...path, child], one);
    const isRoot = path.length === 0;
    const owner = isRoot ? "self" : "client";
    const fields = children.map(([child]) => `        self.${child} = ${name([...path, child])}(${owner})\n`).join("");
    if (isRoot) {
      classes.push(root(isAsync, fields));
      return;
    }
    const client = isAsync ? "AsyncMailmill" : "Mailmill";
    const init = `    _client: ${client}\n\n    def __init__(self, client: ${client}) -> None:\n        super().__init__(client)\n${fields}\n`;
    const methods = resource.methods.map((one) => (one.poll ? waiting(one, types, isAsync) : method(one, types, isAsync)));
    classes.push(`class ${name(path)}(${base}):\n${init}${methods.join("\n")}`);
  };
  visit([], api.resources);
  return `${HEAD}from __future__ import annotations

import builtins as _b
import typing as _t

from . import types as t
from ._client import ${isAsync ? "AsyncClient, AsyncList, AsyncResource" : "Client, List, Resource"}, Job
from ._request import RETRIES, UNSET, ${isAsync ? "AsyncUpload, " : ""}CallOptions, Unset, Upload, path_part

if _t.TYPE_CHECKING:
    import collections.abc

    import httpx


${classes.join("\n\n")}`;
}

function root(isAsync, fields) {
  const [client, base, http, about] = isAsync
    ? ["AsyncMailmill", "AsyncClient", "AsyncClient", "An asynchronous client of the API.\n\n    Example:\n        async with AsyncMailmill() as client:\n            async for project in client.projects.list():\n                print(project[\"name\"])\n    "]
    : ["Mailmill", "Client", "Client", "A client of the API.\n\n    Example:\n        with Mailmill() as client:\n            for project in client.projects.list():\n                print(project[\"name\"])\n    "];
  return `class ${client}(${base}):
    """${about}"""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = RETRIES,
        headers: collections.abc.Mapping[str, str] | None = None,
        http_client: httpx.${http} | None = None,
    ) -> None:
        """Creates a client.

        Args:
            api_key: The API key; \`MAILMILL_KEY\` of the environment if absent.
            base_url: The address of the server, with or without \`/v1\`; \`MAILMILL_URL\` of the environment if absent.
            timeout: The seconds that an attempt may take, until the end of the response; 60 if absent, and 600 for uploads.
            max_retries: How often a failed request is retried.
            headers: Headers for every request.
            http_client: The httpx client to use, for example with a proxy. It is not closed with this client.
        """
        super().__init__(
            api_key, base_url, timeout=timeout, max_retries=max_retries, headers=headers, http_client=http_client
        )
${fields}`;
}

/** Returns the arguments for the fields of an operation: required ones first. */
function argumentsOf(one, types, isAsync) {
  const fields = [...(one.params?.fields ?? [])].sort((first, second) => Number(second.required) - Number(first.required));
  return fields.map(({ name, schema, required }) => {
    const isFile = schema.format === "binary" || schema.contentEncoding === "base64";
    // A file in base64 is read as a whole, so an asynchronous iterable has no advantage.
    const file = one.form && isAsync ? "AsyncUpload" : "Upload";
    // The types of the form's fields are those of its text; JSON is written by the client.
    const given = one.form && !isFile && schema.type === "string" && !schema.enum ? jsonField(schema) : undefined;
    const type = isFile ? file : (given ?? types.expression(schema, `${pascal(one.client)}${pascal(name)}`, "t."));
    return { wire: name, name: ident(name), type, required, about: schema.description };
  });
}

/** Returns the type of a text field of a form that contains JSON, which the client writes. */
function jsonField(schema) {
  if (/^JSON /.test(schema.description ?? "")) return "str | collections.abc.Mapping[str, _t.Any]";
  if (/JSON array/.test(schema.description ?? "")) return "str | _b.list[str]";
  return undefined;
}

const argument = ({ name, type, required }) => (required ? `${name}: ${type}` : `${name}: ${type} | Unset = UNSET`);

function method(one, types, isAsync) {
  const fields = argumentsOf(one, types, isAsync);
  const result = one.answer ? { text: "str", bytes: "bytes" }[one.answer] : types.expression(one.result, `${pascal(one.client)}Result`, "t.");
  const parameters = [
    "self",
    ...one.pathParams.map(({ name, schema }) => `${ident(name)}: ${types.expression(schema, `${pascal(one.client)}${pascal(name)}`, "t.")}`),
    "*",
    ...fields.map(argument),
    "request_options: CallOptions | None = None",
  ];
  const address = one.path.includes("{") ? `f"${one.path.replace(/\{(\w+)\}/g, (_, name) => `{path_part(${ident(name)})}`)}"` : JSON.stringify(one.path);
  const values = one.params ? `{${fields.map(({ wire, name }) => `${JSON.stringify(wire)}: ${name}`).join(", ")}}` : "None";
  if (one.list) {
    const item = types.expression(one.list.item, `${pascal(one.client)}Item`, "t.");
    const type = `${isAsync ? "AsyncList" : "List"}[${result}, ${item}]`;
    const given = [address, one.list.items ? JSON.stringify(one.list.items) : "None", JSON.stringify(one.list.by), one.params ? values : "{}", "request_options"];
    return `${signature("def", one.name, parameters, type)}${doc(one, fields)}${statement("return ", "self._list", given)}`;
  }
  const flags = [one.keyed && "keyed=True", one.form && "form=True", one.answer && `answer="${one.answer}"`, one.base64 && `encoded="${one.base64}"`].filter(Boolean);
  const given = [`"${one.verb}"`, address, values, "request_options", ...flags];
  const call = isAsync ? "await self._call" : "self._call";
  return `${signature(isAsync ? "async def" : "def", one.name, parameters, result)}${doc(one, fields)}${statement("return ", `_t.cast(${JSON.stringify(result)}, ${call}`, given, ")")}`;
}

/** Returns the method that starts a job and waits for its end. */
function waiting({ name, start, poll, id, done, failed, fields: needs, result }, types, isAsync) {
  const fields = argumentsOf(start, types, isAsync);
  const status = types.expression(poll.result, `${pascal(poll.client)}Result`, "t.");
  const completed = types.expression(result, `${pascal(poll.client)}Result`, "t.");
  const parameters = [
    "self",
    "*",
    ...fields.map(argument),
    `on_progress: collections.abc.Callable[[${status}], object] | None = None`,
    "poll_interval: float = 2.0",
    "wait_timeout: float = 600.0",
    "request_options: CallOptions | None = None",
  ];
  const tuple = (words) => (words.length === 0 ? "()" : `(${words.map((word) => JSON.stringify(word)).join(", ")},)`);
  const wait = isAsync ? "await " : "";
  const needed = poll.params?.required.map((field) => `${ident(field)}=${ident(field)}, `).join("") ?? "";
  const about = [
    { name: "on_progress", about: "Receives each status that the job reports." },
    { name: "poll_interval", about: "The seconds between two requests for the status." },
    { name: "wait_timeout", about: "The seconds that the job may take. The job continues on the server after that." },
  ];
  const summary = { ...start, summary: `${start.summary}, and wait until the job has ended`, about: "" };
  return [
    signature(isAsync ? "async def" : "def", name, parameters, completed),
    doc(summary, [...fields, ...about], "JobFailedError: The job failed."),
    statement("job = ", "Job", [tuple(done), tuple(failed), tuple(needs), "on_progress", "poll_interval", "wait_timeout", "request_options"]),
    statement(`started = ${wait}`, `self._client.${start.client}`, [...fields.map((one) => `${one.name}=${one.name}`), "request_options=request_options"]),
    // mypy rejects a cast to the same type.
    statement(completed === status ? "return " : `return _t.cast("${completed}", `, `${wait}self._wait`, [
      "started",
      `lambda started, options: self._client.${poll.client}(started["${id}"], ${needed}request_options=options)`,
      "job",
    ], completed === status ? "" : ")"),
  ].join("");
}

function signature(word, name, parameters, result) {
  const shown = parameters.at(-1).startsWith("*") ? parameters.slice(0, -1) : parameters;
  const one = `    ${word} ${ident(name)}(${shown.join(", ")}) -> ${result}:\n`;
  return one.length <= LINE ? one : `    ${word} ${ident(name)}(\n${shown.map((text) => `        ${text},\n`).join("")}    ) -> ${result}:\n`;
}

function statement(front, call, given, back = "") {
  const one = `        ${front}${call}(${given.join(", ")})${back}\n`;
  return one.length <= LINE ? one : `        ${front}${call}(\n${given.map((text) => `            ${text},\n`).join("")}        )${back}\n`;
}

function doc(one, fields, raises) {
  const described = [...one.pathParams, ...fields].filter(({ about }) => about);
  const lines = [`${one.summary}.`];
  if (one.about) lines.push("", ...one.about.split("\n"));
  if (described.length > 0) lines.push("", "Args:", ...described.map(({ name, about }) => `    ${RESERVED.has(name) ? name : ident(name)}: ${about.replaceAll("\n", " ")}`));
  if (raises) lines.push("", "Raises:", `    ${raises}`);
  return docstring(lines.join("\n"), "        ");
}

/** Breaks a line at spaces; the rest of an argument's description is indented. */
function wrapped(line, indent) {
  const more = `${indent}${/^ +/.exec(line) ? "        " : ""}`;
  const lines = [];
  let current = `${indent}${line}`.trimEnd();
  while (current.length > LINE) {
    const at = current.lastIndexOf(" ", LINE);
    if (at <= more.length) break;
    lines.push(current.slice(0, at).trimEnd());
    current = more + current.slice(at + 1);
  }
  return [...lines, current];
}

function docstring(text, indent) {
  if (!text) return "";
  const safe = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').replace(/"$/, '" ');
  const lines = safe.split("\n").flatMap((line) => wrapped(line, indent));
  lines[0] = `${indent}"""${lines[0].trimStart()}`;
  return lines.length === 1 ? `${lines[0]}"""\n` : `${lines.join("\n")}\n${indent}"""\n`;
}
