#!/usr/bin/env python3
"""Compares the requests that the tests send to the test servers of Klaviyo, Mailchimp and HubSpot with the platforms' own documents.

Every test compares its requests with an extract of the documents (tests/samples/platforms.toml). This program needs the documents, and also
checks what the extract leaves out, such as the types of values. Run it when the version of an API changes, and update the extract.

The documents are not part of the project. The variable PLATFORM_DOCUMENTS names a folder with copies of these repositories:
klaviyo/openapi, HubSpot/HubSpot-public-api-spec-collection and mailchimp/mailchimp-client-lib-codegen (spec/marketing.json). Without
marketing.json, the official client for Python (mailchimp_marketing) states the methods, paths and parameters of Mailchimp, but no bodies.

    RECORD_REQUESTS=/tmp/requests.jsonl cargo test connections exports scheduled_imports
    PLATFORM_DOCUMENTS=/tmp/documents tests/platforms/requests.py /tmp/requests.jsonl

The program prints a table of calls and verdicts. It ends with 1 if a document rejects a request, and with 2 if a document or the requests
are missing, so that it never passes without a comparison. Needs the package jsonschema.
"""

import collections
import json
import os
import pathlib
import re
import sys
import urllib.parse

import jsonschema

# Except for HubSpot, the documents do not describe sign-in.
SIGN_IN = re.compile(r"^/oauth2?/(authorize|token|revoke|metadata)$")


def fail(why):
    print(why, file=sys.stderr)
    sys.exit(2)


class Operation:
    """A method of a path, with its parameters and the schemas of its bodies by content type."""

    def __init__(self, parameters, bodies, needs_body=False, document=None):
        self.parameters = parameters
        self.bodies = bodies
        self.needs_body = needs_body
        self.document = document


def resolved(document, value):
    while isinstance(value, dict) and "$ref" in value:
        found = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        value = found
    return value


def json_schema(value):
    """Converts the schemas of OpenAPI 3.0 into JSON Schema, which has no `nullable`."""
    if isinstance(value, list):
        return [json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {name: json_schema(item) for name, item in value.items() if name not in ("example", "discriminator")}
    if changed.pop("nullable", False) is True:
        return {"anyOf": [changed, {"type": "null"}]}
    return changed


def of_openapi(path):
    """Returns the operations of an OpenAPI 3 or Swagger 2 document by method and path."""
    document = json.loads(path.read_text())
    base = document.get("basePath", "").rstrip("/")
    schemas = json_schema(document)
    operations = {}
    for place, item in document["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "post", "put", "patch", "delete"):
                continue
            given = [resolved(document, one) for one in item.get("parameters", []) + operation.get("parameters", [])]
            body = resolved(document, operation.get("requestBody", {}))
            bodies = {kind: content.get("schema", {}) for kind, content in body.get("content", {}).items()}
            for one in given:
                if one["in"] == "body":
                    bodies["application/json"] = one.get("schema", {})
            parameters = {one["name"]: one for one in given if one["in"] == "query"}
            key = (method.upper(), base + place)
            operations[key] = Operation(parameters, bodies, body.get("required", False), schemas)
    return operations


def of_client(folder):
    """Returns the operations in the official Mailchimp client, which has the paths and the parameters in its source."""
    operations = {}
    for source in folder.glob("api/*_api.py"):
        for function in re.split(r"\n    def ", source.read_text()):
            call = re.search(r"call_api\(\s*'([^']+)', '(\w+)'", function)
            query = re.findall(r"query_params\.append\(\('([^']+)'", function)
            if call:
                parameters = {name: {"schema": {}} for name in query}
                operations[(call[2], "/3.0" + call[1])] = Operation(parameters, {"application/json": {}, "": {}})
    return operations


def documents(folder):
    klaviyo = next(iter(folder.glob("**/stable.json")), None) or fail("klaviyo/openapi has no stable.json here")
    hubspot = {}
    for path in folder.glob("**/Rollouts/*/2026-03/*.json"):
        hubspot.update(of_openapi(path))
    marketing = next(iter(folder.glob("**/marketing.json")), None)
    client = next(iter(folder.glob("**/mailchimp_marketing")), None)
    if not hubspot:
        fail("HubSpot-public-api-spec-collection has no documents of 2026-03 here")
    if marketing:
        mailchimp = (marketing.name, of_openapi(marketing))
    elif client:
        mailchimp = ("the official client: no bodies", of_client(client))
    else:
        fail("mailchimp-client-lib-codegen has no spec/marketing.json here, and there is no mailchimp_marketing")
    return {
        "Klaviyo": (f"OpenAPI {json.loads(klaviyo.read_text())['info']['version']}", of_openapi(klaviyo)),
        "Mailchimp": mailchimp,
        "HubSpot": ("OpenAPI 2026-03", hubspot),
    }


def platform(path):
    if path.startswith("/api/"):
        return "Klaviyo"
    return "Mailchimp" if path.startswith("/3.0") else "HubSpot"


def matching(operations, method, path):
    """Returns the operation of a path, preferring the one with the fewest parameters in its path."""
    found = []
    for (known, template), operation in operations.items():
        pattern = "/".join("[^/]+" if "{" in part else re.escape(part) for part in template.rstrip("/").split("/"))
        if template.endswith("{path}"):
            pattern = pattern.removesuffix("[^/]+") + ".+"
        if known == method and re.fullmatch(pattern, path.rstrip("/")):
            found.append((template.count("{"), template, operation))
    return min(found, key=lambda one: one[0], default=(0, None, None))[1:]


def value_errors(name, text, schema):
    if schema.get("type") == "array":
        return [error for part in text.split(",") for error in value_errors(name, part, schema.get("items", {}))]
    wrong = schema.get("type") in ("integer", "number") and not re.fullmatch(r"-?\d+(\.\d+)?", text)
    wrong |= schema.get("type") == "boolean" and text not in ("true", "false")
    wrong |= "enum" in schema and text not in schema["enum"]
    if not wrong and schema.get("type") == "integer":
        wrong = not schema.get("minimum", float("-inf")) <= int(text) <= schema.get("maximum", float("inf"))
    return [f"query {name}={text} is not allowed"] if wrong else []


def errors(operation, asked):
    query = urllib.parse.parse_qsl(urllib.parse.urlsplit(asked["target"]).query, keep_blank_values=True)
    found = []
    for name, text in query:
        parameter = operation.parameters.get(name)
        if parameter is None:
            found.append(f"query {name} is unknown")
        else:
            schema = resolved(operation.document, parameter.get("schema", parameter))
            found += value_errors(name, text, schema)
    given = {name for name, _ in query}
    found += [f"query {name} is missing" for name, one in operation.parameters.items() if one.get("required") and name not in given]
    kind = asked["contentType"].split(";")[0]
    if not asked["body"]:
        return found + (["the body is missing"] if operation.needs_body else [])
    if kind not in operation.bodies:
        return found + [f"a body of {kind or 'no type'} is not allowed"]
    if "json" in kind and operation.document:
        schema = {**operation.document, **json_schema(operation.bodies[kind])}
        for error in jsonschema.Draft7Validator(schema).iter_errors(json.loads(asked["body"])):
            found.append(f"body {'/'.join(map(str, error.absolute_path))}: {error.message[:120]}")
    return found


def main():
    folder = os.environ.get("PLATFORM_DOCUMENTS") or fail("set PLATFORM_DOCUMENTS to the folder with the documents")
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).exists():
        fail("name the file with the requests; see the start of this program")
    known = documents(pathlib.Path(folder))
    calls, verdicts = collections.Counter(), collections.defaultdict(set)
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        asked = json.loads(line)
        path = urllib.parse.unquote(urllib.parse.urlsplit(asked["target"]).path)
        if SIGN_IN.match(path):
            continue
        name = platform(path)
        template, operation = matching(known[name][1], asked["method"], path)
        call = (name, asked["method"], template or path)
        calls[call] += 1
        verdicts[call].update(["no such operation"] if operation is None else errors(operation, asked))
    if {name for name, _, _ in calls} != set(known):
        fail("the file has no requests of a platform; run the tests of connections, exports and scheduled imports")
    for name, (source, _) in known.items():
        print(f"\n{name} ({source})")
        for call in sorted(call for call in calls if call[0] == name):
            wrong = sorted(verdicts[call])
            print(f"  {calls[call]:>6}  {call[1]:<6} {call[2]}  {'; '.join(wrong) if wrong else 'valid'}")
    rejected = sum(1 for wrong in verdicts.values() if wrong)
    print(f"\n{sum(calls.values())} requests of {len(calls)} operations; {rejected} operations with rejected requests")
    sys.exit(1 if rejected else 0)


if __name__ == "__main__":
    main()
