/** Writes JSON as text from pieces that are JSON already, so that numbers and key order inside them stay. */
import { wrongValue } from "./node.js";
import { JsonCursor } from "./cursor.js";

/** Members of an object to be: a key and its value as JSON. Undefined leaves the member out. */
export type MemberTexts = readonly (readonly [key: string, json: string | undefined])[];

export function objectText(members: MemberTexts): string {
  const texts: string[] = [];
  for (const [key, json] of members) if (json !== undefined) texts.push(`${JSON.stringify(key)}:${json}`);
  return `{${texts.join(",")}}`;
}

/** False where nothing in the JSON can be the text, which a string may spell by the numbers of its signs. */
export function mayHold(json: Buffer | string, text: Buffer | string): boolean {
  const holds = typeof json === "string" ? json.includes(text.toString()) : json.includes(text);
  return holds || json.includes("\\u");
}

export function arrayText(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

/** A scalar as JSON; undefined stays so. */
export function jsonOf(value: string | number | boolean | bigint | undefined): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
}

/** JSON that a caller wrote, proven to be one value: anything more could write members beside it. */
export function checkedJson(json: string | undefined, param: string): string | undefined {
  if (json === undefined) return undefined;
  try {
    const cursor = new JsonCursor(Buffer.from(json));
    cursor.skip();
    cursor.finish();
  } catch {
    throw wrongValue(param, "it must be JSON");
  }
  return json;
}
