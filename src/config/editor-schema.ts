/** The JSON Schema of a settings file, by which editors complete and check it while it is written. */
import { z } from "zod";
import { settingsSchema } from "./schema.js";
import { wordForm } from "./values.js";

/** A part of a JSON Schema. */
export type JsonSchema = { [name: string]: unknown };

/** Where each of these members holds schemas by name, and where a schema or a list of them. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs"]);
const BELOW = new Set(["items", "additionalProperties", "anyOf", "allOf", "oneOf"]);
/** Where an upstream says its family. */
const FAMILY = ["properties", "upstreams", "additionalProperties", "properties", "family"];
/** What stands at the top may also be the reader's own, such as anchors. */
const OWN_BLOCKS = { "^x-": {} };

/**
 * The schema of the whole file, draft 2020-12. It lets a value pass that the environment gives, as "${NAME}". The names
 * of the families are the only ones that an upstream's may be.
 */
export function editorSchema(families: readonly string[]): JsonSchema {
  const made = rawSchema();
  schemaAt(made, FAMILY)["form"] = wordForm(families);
  return { ...forEditors(made), title: "tollgate.yaml", patternProperties: OWN_BLOCKS };
}

/**
 * The same before rules and forms are told apart: each value has its `rule`, in words, and its `form`; a block may have
 * a `word` in its place.
 */
export function rawSchema(): JsonSchema {
  return z.toJSONSchema(settingsSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { properties, required } = jsonSchema;
      if (required === undefined || properties === undefined) return;
      const needed = required.filter((name) => !isLeftOut(properties[name]));
      if (needed.length > 0) jsonSchema.required = needed;
      else delete jsonSchema.required;
    },
  });
}

function schemaAt(schema: JsonSchema, path: readonly string[]): JsonSchema {
  return path.reduce((at, name) => {
    const next = at[name];
    if (!isSchema(next)) throw new Error(`the schema has no ${path.join(".")}`);
    return next;
  }, schema);
}

function isLeftOut(value: unknown): boolean {
  return isSchema(value) && value["mayBeLeftOut"] === true;
}

/** A value's form in the place of the text that we read, and its rule behind its description. */
function forEditors({ alone, ...said }: JsonSchema): JsonSchema {
  // A value that may stand alone in place of the block.
  if (alone !== undefined) {
    const { description, ...block } = forEditors(said);
    return { description, anyOf: [alone, block] };
  }
  const { form, rule, description, type, mayBeLeftOut: _, secret: _secret, ...rest } = said;
  const made: JsonSchema = { ...(isSchema(form) ? form : type === undefined ? {} : { type: withEmpty(type) }) };
  const words = [description, typeof rule === "string" ? `It ${rule}` : undefined].filter((text) => text !== undefined);
  if (words.length > 0) made["description"] = `${words.join(". ")}.`;
  for (const [name, value] of Object.entries(rest)) {
    // A name's pattern is a rule of its own.
    if (name === "propertyNames") made[name] = value;
    else if (BY_NAME.has(name) && isSchema(value)) made[name] = mapValues(value, below);
    else made[name] = BELOW.has(name) ? below(value) : value;
  }
  return made;
}

/** A block or a list that is left empty is read as one without entries. */
function withEmpty(type: unknown): unknown {
  return type === "object" || type === "array" ? [type, "null"] : type;
}

function below(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(below);
  return isSchema(value) ? forEditors(value) : value;
}

function mapValues(values: JsonSchema, change: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
