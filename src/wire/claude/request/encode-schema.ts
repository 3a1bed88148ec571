/** JSON Schema as the wire takes it for an answer: closed objects, and what it does not know told in words. */
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";

/** Members that the wire knows. */
const KNOWN: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "const",
  "default",
  "required",
  "$ref",
  "additionalProperties",
]);
const ONE: ReadonlySet<string> = new Set(["items"]);
const MANY: ReadonlySet<string> = new Set(["anyOf", "allOf", "oneOf"]);
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
/** Members about the schema itself, which say nothing of the answer. */
const SILENT: ReadonlySet<string> = new Set(["$schema", "$id", "$comment"]);
const FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/** The schema as text; what is no object stays as it is. */
export function answerSchema(text: string): string {
  const schema = objectOf(parsed(text));
  return schema === undefined ? text : JSON.stringify(convert(schema));
}

function convert(value: unknown): unknown {
  const schema = objectOf(value);
  if (schema === undefined) return value;
  const made: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [key, member] of Object.entries(schema)) {
    if (SILENT.has(key)) continue;
    if (KNOWN.has(key)) made[key] = member;
    else if (ONE.has(key)) made[key] = convert(member);
    else if (MANY.has(key)) made[key === "oneOf" ? "anyOf" : key] = listOf(member).map(convert);
    else if (NAMED.has(key)) made[key] = convertNamed(member);
    else if (isTaken(key, member)) made[key] = member;
    else told.push(`${key}: ${JSON.stringify(member)}`);
  }
  if (made["properties"] !== undefined || isObjectType(made["type"])) made["additionalProperties"] = false;
  else delete made["additionalProperties"];
  if (told.length > 0) {
    const before = typeof made["description"] === "string" ? `${made["description"]} ` : "";
    made["description"] = `${before}{${told.join(", ")}}`;
  }
  return made;
}

function isTaken(key: string, member: unknown): boolean {
  if (key === "format") return FORMATS.some((format) => format === member);
  return key === "minItems" && (member === 0 || member === 1);
}

function isObjectType(type: unknown): boolean {
  return type === "object" || listOf(type).includes("object");
}

function convertNamed(value: unknown): JsonObject {
  const schemas = Object.entries(objectOf(value) ?? {});
  return Object.fromEntries(schemas.map(([name, schema]) => [name, convert(schema)]));
}
