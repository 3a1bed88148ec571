/** The smallest value that a JSON schema allows, for the stand-in's structured answers and tool arguments. */

/** How deep a schema is followed; one that demands itself without end gets null there. */
const DEPTH_MAX = 32;
/** How many items or characters a schema may demand. */
const LENGTH_MAX = 1_000;

type Schema = Readonly<Record<string, unknown>>;

/** A value that the schema allows: only what it requires, first choices, texts named after their property. */
export function smallestInstance(schema: unknown): unknown {
  return instance(schema, isSchema(schema) ? schema : {}, "text", 0);
}

function instance(value: unknown, root: Schema, name: string, depth: number): unknown {
  if (!isSchema(value)) return value === false ? null : name;
  if (depth > DEPTH_MAX) return null;
  const schema = merged(value, root, depth);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0];
  if ("default" in schema) return schema["default"];
  for (const choices of [schema["anyOf"], schema["oneOf"]]) {
    if (Array.isArray(choices) && choices.length > 0) return instance(firstChoice(choices), root, name, depth + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return objectInstance(schema, root, depth);
    case "array":
      return arrayInstance(schema, root, name, depth);
    case "integer":
    case "number":
      return smallestNumber(schema);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return textInstance(schema, name);
  }
}

function objectInstance(schema: Schema, root: Schema, depth: number): unknown {
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const made: Record<string, unknown> = {};
  for (const name of required) {
    if (typeof name !== "string" || name === "__proto__") continue;
    made[name] = instance(Object.hasOwn(properties, name) ? properties[name] : {}, root, name, depth + 1);
  }
  return made;
}

function arrayInstance(schema: Schema, root: Schema, name: string, depth: number): unknown {
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const length = Math.min(numberOf(schema["minItems"]) ?? 0, LENGTH_MAX);
  return Array.from({ length }, (_, i) => instance(prefix[i] ?? schema["items"] ?? {}, root, name, depth + 1));
}

function smallestNumber(schema: Schema): number {
  const above = numberOf(schema["exclusiveMinimum"]);
  const step = numberOf(schema["multipleOf"]) ?? (typeOf(schema) === "integer" || above !== undefined ? 1 : undefined);
  let least = numberOf(schema["minimum"]) ?? above ?? 0;
  const most = numberOf(schema["maximum"]) ?? numberOf(schema["exclusiveMaximum"]) ?? Number.POSITIVE_INFINITY;
  if (numberOf(schema["minimum"]) === undefined && above === undefined && most < 0) least = most - 1;
  if (step === undefined || step <= 0) return least;
  const stepped = Math.ceil(least / step) * step;
  return above !== undefined && stepped <= above ? stepped + step : stepped;
}

/** One example for each format that validators check. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T00:00:00Z",
  time: "00:00:00Z",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function textInstance(schema: Schema, name: string): string {
  const examples = schema["examples"];
  if (Array.isArray(examples) && typeof examples[0] === "string") return examples[0];
  const format = schema["format"];
  if (typeof format === "string" && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? name;
  const least = Math.min(numberOf(schema["minLength"]) ?? 0, LENGTH_MAX);
  return name.padEnd(least, "x").slice(0, numberOf(schema["maxLength"]) ?? LENGTH_MAX);
}

/** The schema with its reference followed and the parts of `allOf` put together. */
function merged(schema: Schema, root: Schema, depth: number): Schema {
  if (depth > DEPTH_MAX) return schema;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const { $ref: _, ...others } = schema;
    const target = resolve(reference, root);
    return merged({ ...(isSchema(target) ? target : {}), ...others }, root, depth + 1);
  }
  const parts = schema["allOf"];
  if (!Array.isArray(parts)) return schema;
  const { allOf: _, ...own } = schema;
  return parts.filter(isSchema).reduce((a: Schema, part) => join(a, merged(part, root, depth + 1)), own);
}

function join(a: Schema, b: Schema): Schema {
  const joined: Record<string, unknown> = { ...a, ...b };
  if (isSchema(a["properties"]) && isSchema(b["properties"]))
    joined["properties"] = { ...a["properties"], ...b["properties"] };
  if (Array.isArray(a["required"]) && Array.isArray(b["required"]))
    joined["required"] = [...new Set([...a["required"], ...b["required"]])];
  return joined;
}

/** Follows a pointer inside the schema, such as `#/$defs/city`. */
function resolve(reference: string, root: Schema): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isSchema(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function typeOf(schema: Schema): unknown {
  const type = schema["type"];
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? "null";
  if (type !== undefined) return type;
  if ("properties" in schema || "required" in schema) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : undefined;
}

function firstChoice(choices: readonly unknown[]): unknown {
  return choices.find((one) => !isSchema(one) || one["type"] !== "null") ?? choices[0];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
