/** The wire's own dialect of schemas, turned into JSON Schema, which every other wire speaks. */
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";
import { fieldName } from "../facts.js";

/** Members that hold one schema, a list of them, or a map of them. */
const ONE: ReadonlySet<string> = new Set(["items", "additionalProperties"]);
const MANY: ReadonlySet<string> = new Set(["anyOf", "prefixItems"]);
const NAMED: ReadonlySet<string> = new Set(["properties", "defs"]);
/** Members that say nothing in JSON Schema. */
const DROPPED: ReadonlySet<string> = new Set(["nullable", "propertyOrdering", "example"]);
/** Numbers that the wire writes as strings, for they have 64 bits. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);

/** The schema as JSON Schema, as text: types in lower case, and null as a type. Text that is no object stays. */
export function jsonSchemaOf(text: string): string {
  const schema = objectOf(parsed(text));
  return schema === undefined ? text : JSON.stringify(convert(schema));
}

function convert(value: unknown): unknown {
  const schema = objectOf(value);
  if (schema === undefined) return value;
  const made: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(schema)) {
    const name = fieldName(key);
    if (DROPPED.has(name)) continue;
    if (name === "type") made[name] = convertType(member, schema["nullable"] === true);
    else if (ONE.has(name)) made[name] = convert(member);
    else if (MANY.has(name)) made[name] = listOf(member).map(convert);
    else if (NAMED.has(name)) made[name === "defs" ? "$defs" : name] = convertNamed(member);
    else if (COUNTS.has(name)) made[name] = Number(member);
    else if (name === "enum" && schema["nullable"] === true) made[name] = [...listOf(member), null];
    else made[name] = member;
  }
  return made;
}

function convertType(type: unknown, nullable: boolean): unknown {
  if (typeof type !== "string") return type;
  const name = type.toLowerCase();
  return nullable ? [name, "null"] : name;
}

function convertNamed(value: unknown): JsonObject {
  const schemas = Object.entries(objectOf(value) ?? {});
  return Object.fromEntries(schemas.map(([name, schema]) => [name, convert(schema)]));
}
