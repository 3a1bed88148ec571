/** Schemas of arguments, which must be told to be an object, and of one form. */
import { JsonCursor } from "../json/cursor.js";
import { readMembers, splice } from "../json/splice.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../json/value.js";

export const NO_ARGUMENTS = '{"type":"object","properties":{}}';

const OPEN_OBJECT = 0x7b;
/** Members that say of which forms a value is, which may stand deeper alone. */
const FORMS = ["anyOf", "oneOf", "allOf"] as const;
const HOLDERS = ["$defs", "definitions"] as const;

/**
 * The schema as it came but for that; `NO_ARGUMENTS` where there is none. Where it has several forms at its top, their
 * properties stand in one; `drop` takes the names of what said so.
 */
export function objectSchema(schema: string = NO_ARGUMENTS, drop: (member: string) => void = () => {}): string {
  const bytes = Buffer.from(schema.trim());
  if (bytes[0] !== OPEN_OBJECT) return NO_ARGUMENTS;
  const members = readMembers(new JsonCursor(bytes));
  const forms = FORMS.filter((form) => members.some(({ key }) => key === form));
  if (forms.length > 0) {
    for (const form of forms) drop(form);
    const root = objectOf(parsed(schema)) ?? {};
    return JSON.stringify(ofOneForm(root, root));
  }
  if (members.some(({ key }) => key === "type")) return schema;
  return splice(bytes, 0, members, new Map([["type", '"object"']])).toString();
}

/** The properties of all forms, of which those must be there that each form wants; the forms are told in words. */
function ofOneForm(schema: JsonObject, root: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const properties: Record<string, unknown> = { ...objectOf(schema["properties"]) };
  const required = new Set(listOf(schema["required"]));
  for (const [form, value] of Object.entries({ anyOf, oneOf, allOf })) {
    const variants = listOf(value).map((variant) => ofOneForm(resolved(variant, root), root));
    for (const variant of variants) addProperties(properties, objectOf(variant["properties"]) ?? {});
    const wanted = variants.map((variant) => listOf(variant["required"]));
    for (const name of wanted.flat())
      if (form === "allOf" || wanted.every((names) => names.includes(name))) required.add(name);
  }
  const told = Object.entries({ anyOf, oneOf, allOf }).flatMap(([form, value]) =>
    value === undefined ? [] : [`${form}: ${JSON.stringify(value)}`],
  );
  const description = [textOf(schema["description"]), told.length === 0 ? "" : `{${told.join(", ")}}`];
  return {
    ...rest,
    type: "object",
    ...(told.length === 0 ? {} : { description: description.filter((text) => text !== "").join(" ") }),
    properties,
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

/** A property that two forms say differently may be either. */
function addProperties(known: Record<string, unknown>, more: JsonObject): void {
  for (const [name, property] of Object.entries(more)) {
    const before = known[name];
    const isSame = before === undefined || JSON.stringify(before) === JSON.stringify(property);
    known[name] = isSame ? property : { anyOf: [before, property] };
  }
}

/** A form, or what it refers to within the schema. One that refers on says nothing, so that no circle is followed. */
function resolved(value: unknown, root: JsonObject): JsonObject {
  const schema = objectOf(value) ?? {};
  const [, holder, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(textOf(schema["$ref"])) ?? [];
  const known = HOLDERS.find((key) => key === holder);
  if (known === undefined || name === undefined) return schema;
  const { anyOf: _anyOf, oneOf: _oneOf, allOf: _allOf, ...plain } = objectOf(objectOf(root[known])?.[name]) ?? {};
  return plain;
}
