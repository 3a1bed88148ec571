/** The fields of a request that have no typed home: they go back to the wire they came from, and to no other. */
import type { Prompt } from "../../api/index.js";
import { JsonCursor } from "../json/cursor.js";
import { readMembers } from "../json/splice.js";
import { checkedJson, type MemberTexts } from "../json/text.js";

/**
 * As members for a body of the wire, beside those that are written already. One is left out where a member of its name
 * is written, or where it is among those that the gateway alone may write (`owned`). Throws PARAMETER_INVALID for what
 * is no JSON, and BODY_INVALID for JSON that is no object or names a key twice.
 */
export function encodeExtra(
  prompt: Prompt,
  wire: string,
  members: MemberTexts,
  owned: readonly string[] = [],
): MemberTexts {
  if (prompt.extra?.wire !== wire) return [];
  const bytes = Buffer.from(checkedJson(prompt.extra.json, "extra") ?? "{}");
  const taken = new Set(owned);
  for (const [key, json] of members) if (json !== undefined) taken.add(key);
  return readMembers(new JsonCursor(bytes))
    .filter((member) => !taken.has(member.key))
    .map((member) => [member.key, bytes.toString("utf8", member.valueStart, member.end)]);
}
