/** Schemas of arguments, which must be told to be an object. */
import { JsonCursor } from "../json/cursor.js";
import { readMembers, splice } from "../json/splice.js";

export const NO_ARGUMENTS = '{"type":"object","properties":{}}';

const OPEN_OBJECT = 0x7b;

/** The schema as it came but for that; `NO_ARGUMENTS` where there is none. */
export function objectSchema(schema: string = NO_ARGUMENTS): string {
  const bytes = Buffer.from(schema.trim());
  if (bytes[0] !== OPEN_OBJECT) return NO_ARGUMENTS;
  const members = readMembers(new JsonCursor(bytes));
  if (members.some(({ key }) => key === "type")) return schema;
  return splice(bytes, 0, members, new Map([["type", '"object"']])).toString();
}
