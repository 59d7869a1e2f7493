"""The vendors' documents as self-contained JSON Schemas of the definitions that concern tools.

A converted document is `{"$schema", "$defs"}`. `$defs` holds the vendor's own definitions under the vendor's own
names, those that ours refer to included; a list that stands inline in a request is named after it:
`CreateMessageParams.tools`. What asserts nothing (descriptions, examples, `x-…`) is left out, and a keyword that is
not known here ends the conversion, so that none is lost unseen.
"""

import json
import re

import yaml

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Keywords by what they hold.
MAPS = {"properties", "patternProperties", "$defs"}
LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
ONE = {"items", "additionalProperties", "propertyNames", "not", "contains"}
PLAIN = {
    "type", "enum", "const", "required", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties",
    "maxProperties", "multipleOf", "contentEncoding", "contentMediaType",
}  # fmt: skip
SAY_NOTHING = {
    "title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "externalDocs",
    "discriminator", "xml", "$comment", "$schema", "enumDescriptions", "enumDeprecated", "id",
}  # fmt: skip


def convert(vendors, mcp, made):
    anthropic(read_yaml(vendors / "anthropic" / "official" / "openapi.yml"), made / "anthropic.json")
    openai(read_yaml(vendors / "openai" / "official" / "openapi.yml"), made / "openai.json")
    gemini(json.loads((vendors / "gemini" / "official" / "discovery.json").read_text()), made / "gemini.json")
    protocol(json.loads((mcp / "2026-07-28.json").read_text()), made / "mcp.json")
    protocol(json.loads((mcp / "2025-11-25.json").read_text()), made / "mcp-2025-11-25.json")


def anthropic(document, path):
    schemas = document["components"]["schemas"]
    schemas["CreateMessageParams.tools"] = schemas["CreateMessageParams"]["properties"]["tools"]
    roots = [
        "Tool",
        "CreateMessageParams",
        "CreateMessageParams.tools",
        "InputMessage",
        "RequestToolResultBlock",
        "RequestToolUseBlock",
        "Message",
        "ErrorResponse",
    ]
    write(path, schemas, roots, from_openapi)


def openai(document, path):
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        # A word of a draft that is gone; it stands only in definitions that contain themselves.
        if schema.pop("$recursiveAnchor", False):
            itself = json.dumps({"$ref": f"#/components/schemas/{name}"})[1:-1]
            schemas[name] = json.loads(json.dumps(schema).replace('"$recursiveRef": "#"', itself))
    own = [part for part in schemas["CreateChatCompletionRequest"]["allOf"] if "tools" in part.get("properties", {})]
    schemas["CreateChatCompletionRequest.tools"] = own[0]["properties"]["tools"]
    roots = [
        "ChatCompletionTool",
        "CreateChatCompletionRequest.tools",
        "ChatCompletionRequestToolMessage",
        "ChatCompletionMessageToolCall",
        "CreateChatCompletionRequest",
        "CreateChatCompletionResponse",
        "CreateResponse",
        "Response",
        "ErrorResponse",
        "FunctionTool",
        "ToolsArray",
        "FunctionCallOutputItemParam",
        "FunctionToolCall",
    ]
    write(path, schemas, roots, from_openapi)


def gemini(document, path):
    schemas = document["schemas"]
    # The document refers to it and does not hold it; no tool and no answer of ours has one.
    schemas.setdefault("MediaResolution", {"type": "any"})
    schemas["GenerateContentRequest.tools"] = schemas["GenerateContentRequest"]["properties"]["tools"]
    roots = [
        "FunctionDeclaration",
        "Tool",
        "GenerateContentRequest",
        "GenerateContentRequest.tools",
        "GenerateContentResponse",
        "Content",
        "FunctionCall",
    ]
    write(path, schemas, roots, from_discovery)


def protocol(document, path):
    roots = ["Tool", "ListToolsResult", "CallToolResult", "CallToolRequestParams"]
    write(path, document["$defs"], roots, from_json_schema)


def read_yaml(path):
    with open(path, encoding="utf-8") as text:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def write(path, schemas, roots, translate):
    """The roots and all they refer to, by name."""
    done, waiting = {}, list(roots)
    while waiting:
        name = waiting.pop()
        if name not in done:
            done[name] = translate(schemas[name])
            waiting.extend(references(done[name]))
    document = {"$schema": DIALECT, "$defs": dict(sorted(done.items()))}
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def references(schema):
    return re.findall(r'"\$ref": "#/\$defs/([^"]+)"', json.dumps(schema))


def translated(schema, one):
    """The schema with every schema in it put through `one`."""
    out = {}
    for keyword, value in schema.items():
        if keyword in MAPS:
            out[keyword] = {name: one(part) for name, part in value.items()}
        elif keyword in LISTS:
            out[keyword] = [one(part) for part in value]
        elif keyword in ONE:
            out[keyword] = one(value)
        elif keyword in PLAIN:
            out[keyword] = value
        elif keyword not in SAY_NOTHING and not keyword.startswith("x-"):
            raise ValueError(f"the keyword {keyword!r} is not known: {json.dumps(schema)[:300]}")
    return out


def from_json_schema(schema):
    if isinstance(schema, bool):
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    out = translated(rest, from_json_schema)
    if "$ref" in schema:
        out["$ref"] = schema["$ref"]
    return out


def from_openapi(schema):
    """OpenAPI 3.1 is JSON Schema, but for references and the habits of 3.0."""
    if isinstance(schema, bool):
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword not in ("$ref", "nullable")}
    for bound, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(rest.get(bound), bool):
            if rest.pop(bound):
                rest[bound] = rest.pop(inclusive)
    out = translated(rest, from_openapi)
    if "$ref" in schema:
        prefix = "#/components/schemas/"
        if not schema["$ref"].startswith(prefix):
            raise ValueError(f"a reference leads elsewhere: {schema['$ref']}")
        out["$ref"] = "#/$defs/" + schema["$ref"][len(prefix):]
    return {"anyOf": [out, {"type": "null"}]} if schema.get("nullable") else out


def from_discovery(schema):
    """Google's own form. Its JSON takes a number or its digits for either, and refuses unknown fields ("Unknown name
    … Cannot find field"), so that objects are closed."""
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"]}
    if schema.get("type") == "any":
        return True
    number = schema.get("format") in ("int32", "int64", "uint32", "uint64", "float", "double")
    out = translated(schema, from_discovery)
    if number:
        out.pop("format")
        whole = schema["format"] not in ("float", "double")
        digits = r"^-?[0-9]+$" if whole else r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$|^-?Infinity$|^NaN$"
        return {"anyOf": [{"type": "integer" if whole else "number"}, {"type": "string", "pattern": digits}]}
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        out["additionalProperties"] = False
    return out
