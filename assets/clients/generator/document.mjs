// Reads the operations and types for clients from the OpenAPI document.
//
// The schemas of an operation's parameters, body and result are inline in the document. Here they get names, such as
// `ContactsCreateParams`, so that both languages have one list of named types.

/**
 * TABLE: methods that start a job and wait for its end: the operation that starts it, the one that returns its status, its last statuses, and
 * the optional fields of the status that every completed job has. A held import ends as `uploaded`.
 */
const JOBS = [
  { name: "emails.generate_and_wait", start: "emails.generate", poll: "emails.status", id: "conversationId", done: ["completed"], failed: ["failed"], fields: ["result"] },
  { name: "emails.import_html_and_wait", start: "emails.import_html", poll: "emails.status", id: "conversationId", done: ["completed"], failed: ["failed"], fields: ["result"] },
  { name: "projects.import_and_wait", start: "projects.imports.create", poll: "projects.imports.get", id: "projectId", done: ["active"], failed: ["error"] },
  { name: "contacts.import_and_wait", start: "contacts.imports.create", poll: "contacts.imports.get", id: "id", done: ["completed", "uploaded"], failed: ["failed"] },
  { name: "contacts.export_and_wait", start: "contacts.exports.create", poll: "contacts.exports.get", id: "jobId", done: ["completed"], failed: ["failed"], fields: ["downloadUrl"] },
  { name: "connections.import_and_wait", start: "connections.import_contacts", poll: "contacts.imports.get", id: "id", done: ["completed", "uploaded"], failed: ["failed"] },
  { name: "previews.create_and_wait", start: "previews.create", poll: "previews.get", id: "previewId", done: ["COMPLETED", "PARTIAL_SUCCESS"], failed: ["FAILED"] },
];

/** The statuses of a job that has not ended. */
const RUNNING = new Set(["pending", "processing", "PROCESSING"]);

/** Parameters that clients set themselves: `page` would change the shape of a list, which `offset` does not. */
const OMITTED = new Set(["page"]);

/** Parts of schemas that types do not express. */
const NOT_TYPES = new Set([
  "pattern", "example", "examples", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "minProperties",
  "maxProperties", "propertyNames", "uniqueItems", "not", "if", "else", "default", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
  "x-enum-descriptions",
]);

/** An enumeration with more values, such as all time zones, is any string: it would grow the clients and become outdated. */
const ENUM_MAX = 60;

/** The kinds of paging, by the parameter that continues a list. */
const PAGING = ["cursor", "offset", "before"];

export const pascal = (name) => name.split(/[._]/).filter(Boolean).map((part) => part[0].toUpperCase() + part.slice(1)).join("");
export const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
export const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const fail = (message) => {
  throw new Error(message);
};

/** Returns `{ schemas, resources }`: named schemas, and a tree of resources with their methods. */
export function readApi(document) {
  const all = document.components.schemas;
  const schemas = {};
  const add = (name, schema) => {
    if (name in schemas || (name in all && schema !== all[name])) fail(`two types have the name ${name}`);
    schemas[name] = simplified(schema);
    return { $ref: `#/components/schemas/${name}` };
  };
  const methods = [];
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [verb, operation] of Object.entries(operations)) {
      if (operation["x-client-name"]) methods.push(readMethod(document, path, verb.toUpperCase(), operation, add));
    }
  }
  if (methods.length === 0) fail("no operation of the document has x-client-name");
  const byName = (name) => methods.find((one) => one.client === name) ?? fail(`${name} is not for clients`);
  const jobs = JOBS.map((job) => readJob(job, byName(job.start), byName(job.poll), all, schemas));
  const used = {};
  const collect = (part) => {
    for (const name of referencesIn(part)) {
      if (name in used) continue;
      used[name] = schemas[name] ?? simplified(all[name] ?? fail(`the document has no schema ${name}`));
      collect(used[name]);
    }
  };
  for (const method of methods) collect([method.pathParams, method.params?.type, method.list?.item, method.result]);
  for (const job of jobs) collect(job.result);
  return { schemas: Object.fromEntries(Object.entries(used).sort(([one], [two]) => (one < two ? -1 : 1))), resources: tree([...methods, ...jobs]) };
}

function readMethod(document, path, verb, operation, add) {
  const client = operation["x-client-name"];
  if (!path.startsWith("/v1/")) fail(`${client} is not under /v1`);
  const resolve = (part) => (part?.$ref ? part.$ref.slice(2).split("/").reduce((value, key) => value[key], document) : part);
  const parameters = (operation.parameters ?? []).map(resolve);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const method = {
    id: operation.operationId,
    client,
    verb,
    path: path.slice("/v1".length),
    pathParams: inPath.map((name) => {
      const { description, schema } = parameters.find((one) => one.in === "path" && one.name === name);
      return { name, about: description, schema: simplified(schema) };
    }),
    keyed: parameters.some((one) => one.name === "Idempotency-Key"),
    summary: operation.summary,
    about: about(operation.description),
  };
  const query = parameters.filter((one) => one.in === "query" && !OMITTED.has(one.name));
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (body && query.length > 0) fail(`${client} has a query and a body`);
  const schema = body ? resolve(body.schema) : query.length > 0 ? querySchema(query) : undefined;
  if (schema) {
    if (schema.type !== "object") fail(`the parameters of ${client} are not an object`);
    const fields = Object.entries(schema.properties ?? {});
    method.params = {
      type: add(`${pascal(client)}Params`, schema),
      required: schema.required ?? [],
      fields: fields.map(([name, field]) => ({ name, schema: simplified(field), required: (schema.required ?? []).includes(name) })),
      example: body ? (body.example ?? schema.example) : queryExample(query),
    };
    method.form = type === "multipart/form-data";
    method.base64 = fields.find(([, field]) => field.contentEncoding === "base64")?.[0];
  }
  readResult(method, operation, resolve, add, query);
  return method;
}

function readResult(method, operation, resolve, add, query) {
  const [, response] = Object.entries(operation.responses).find(([status]) => status.startsWith("2")) ?? fail(`${method.client} has no success`);
  const [type, content] = Object.entries(resolve(response).content)[0];
  if (type !== "application/json") {
    method.answer = type.startsWith("text/") ? "text" : "bytes";
    return;
  }
  const envelope = resolve(content.schema);
  const data = envelope.properties?.data;
  if (data === undefined) {
    method.answer = "json";
    return;
  }
  // With `page` the data is the array itself; clients do not send `page`.
  const whole = resolve(data);
  const shown = whole.oneOf?.length === 2 && whole.oneOf[1].type === "array" ? whole.oneOf[0] : data;
  const page = resolve(shown);
  const by = PAGING.find((name) => query.some((parameter) => parameter.name === name));
  if (by) {
    const arrays = page.type === "array" ? [[undefined, page]] : Object.entries(page.properties).filter(([, one]) => one.type === "array");
    if (arrays.length !== 1) fail(`${method.client} returns pages with ${arrays.length} lists`);
    method.list = { by, items: arrays[0][0], item: simplified(arrays[0][1].items) };
  }
  const name = `${pascal(method.client)}${by ? "Page" : "Result"}`;
  method.result = shown.$ref || isPlain(shown) ? simplified(shown) : add(name, shown);
}

/** Describes a method that waits for a job. Its result is the last status, whose type has the fields that only a completed job always has. */
function readJob({ fields = [], ...job }, start, poll, all, schemas) {
  if (poll.pathParams.length !== 1) fail(`${poll.client} has several parameters in its path`);
  const method = { ...job, client: job.name, start, poll, fields, result: poll.result };
  const name = poll.result.$ref.split("/").at(-1);
  const schema = simplified(all[name] ?? schemas[name]);
  const { $ref, ...own } = schema.properties.status;
  const statuses = ($ref ? simplified(all[$ref.split("/").at(-1)]) : own).enum;
  // Waiting for a job would not end at a status that is in no list.
  for (const one of statuses) if (!RUNNING.has(one) && !job.done.includes(one) && !job.failed.includes(one)) fail(`${job.name} does not know the status ${one}`);
  if (fields.length === 0) return method;
  for (const field of fields) if (!(field in schema.properties) || schema.required.includes(field)) fail(`${name} has no optional field ${field}`);
  const status = { ...schema.properties.status, enum: job.done };
  const completed = { ...schema, properties: { ...schema.properties, status }, required: [...schema.required, ...fields] };
  schemas[`Completed${name}`] = completed;
  return { ...method, result: { $ref: `#/components/schemas/Completed${name}` } };
}

/** Whether the schema needs no name of its own. */
const isPlain = (schema) => schema.type === "array" || (schema.type !== "object" && !schema.anyOf && !schema.oneOf);

function querySchema(query) {
  const properties = Object.fromEntries(query.map((one) => [one.name, { ...one.schema, description: one.description ?? one.schema.description }]));
  return { type: "object", properties, required: query.filter((one) => one.required).map((one) => one.name) };
}

function queryExample(query) {
  const given = query.filter((one) => one.required && one.example !== undefined);
  return given.length > 0 ? Object.fromEntries(given.map((one) => [one.name, one.example])) : undefined;
}

/** Removes what the documentation of every operation repeats: the permission, the budget and how an idempotency key works. */
function about(description = "") {
  const paragraphs = description.split("\n\n").filter((one) => !/^(Requires (the|one of the) permission|Counts against|With an `Idempotency-Key`)/.test(one));
  return paragraphs.join("\n\n");
}

/** Removes what types do not express, and turns a choice of constants into one enumeration. */
function simplified(schema) {
  if (Array.isArray(schema)) return schema.map(simplified);
  if (typeof schema !== "object" || schema === null) return schema;
  const constants = schema.oneOf?.flatMap((one) => ("const" in one ? [one.const] : (one.enum ?? [undefined])));
  if (constants && !constants.includes(undefined)) {
    return { type: "string", enum: constants, ...(schema.description && { description: schema.description }) };
  }
  // Any JSON value, which the document describes level by level.
  if (Array.isArray(schema.type) && schema.type.includes("array") && schema.type.includes("object")) {
    return schema.description ? { description: schema.description } : {};
  }
  if (schema.enum?.length > ENUM_MAX) return simplified({ ...schema, enum: undefined });
  const result = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (NOT_TYPES.has(key)) continue;
    if (key === "properties") result[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, simplified(one)]));
    else if (key === "required" || key === "enum" || key === "const") result[key] = value;
    else result[key] = simplified(value);
  }
  // Conditions on values, which no type expresses.
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const names = result[key]?.flatMap((one) => Object.keys(one.properties ?? {})) ?? [];
    if (result[key] && result.type && names.every((name) => name in (result.properties ?? {}))) delete result[key];
  }
  return result;
}

function referencesIn(part, found = new Set()) {
  if (Array.isArray(part)) part.forEach((one) => referencesIn(one, found));
  else if (typeof part === "object" && part !== null) {
    if (typeof part.$ref === "string") found.add(part.$ref.split("/").at(-1));
    Object.values(part).forEach((one) => referencesIn(one, found));
  }
  return found;
}

/** Returns the resources as a tree: `{ methods, children }` by name. */
function tree(methods) {
  const root = { methods: [], children: {} };
  for (const method of methods) {
    const parts = method.client.split(".");
    method.name = parts.pop();
    let resource = root;
    for (const part of parts) resource = resource.children[part] ??= { methods: [], children: {} };
    if (resource === root) fail(`${method.client} names no resource`);
    if (resource.methods.some((one) => one.name === method.name)) fail(`two operations have the name ${method.client}`);
    resource.methods.push(method);
  }
  const check = (resource, path) => {
    for (const [name, child] of Object.entries(resource.children)) {
      if (resource.methods.some((one) => one.name === name)) fail(`${path}${name} is a resource and a method`);
      check(child, `${path}${name}.`);
    }
  };
  check(root, "");
  return root;
}
