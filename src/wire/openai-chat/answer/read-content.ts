/** A content that came as a list of pieces, as members that clients of the wire know or leave alone. */
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** The member that takes what has no member on the wire: the pieces as they came. */
const OTHERS = "content_parts";

/** The members of a message, or of its delta, in place of those that it has. Undefined takes a member away. */
export function contentMembers(message: JsonObject, pieces: readonly unknown[], isWhole: boolean): JsonObject {
  let text: string | undefined;
  let refusal: string | undefined;
  let thinking = "";
  const proofs: JsonObject[] = [];
  const others: unknown[] = [];
  for (const value of pieces) {
    const piece = objectOf(value);
    const type = textOf(piece?.["type"]);
    if (typeof value === "string") text = (text ?? "") + value;
    else if (type === "text" || type === "output_text") text = (text ?? "") + textOf(piece?.["text"]);
    else if (type === "refusal") refusal = (refusal ?? "") + textOf(piece?.["refusal"]);
    else if (type === "thinking") {
      const thought = thoughtText(piece?.["thinking"]);
      thinking += thought;
      const signature = textOf(piece?.["signature"]);
      if (signature !== "") proofs.push({ type: "reasoning.text", text: thought, signature });
    } else others.push(value);
  }
  const members: Record<string, unknown> = { content: text ?? (isWhole ? null : undefined) };
  if (refusal !== undefined) members["refusal"] = textOf(message["refusal"]) + refusal;
  if (thinking !== "") members["reasoning_content"] = textOf(message["reasoning_content"]) + thinking;
  if (proofs.length > 0) members["reasoning_details"] = [...listOf(message["reasoning_details"]), ...proofs];
  if (others.length > 0) members[OTHERS] = [...listOf(message[OTHERS]), ...others];
  return members;
}

/** A thought is a text, or a list of pieces that have one each. */
export function thoughtText(value: unknown): string {
  return typeof value === "string" ? value : listOf(value).map(pieceText).join("");
}

function pieceText(value: unknown): string {
  if (typeof value === "string") return value;
  const piece = objectOf(value);
  return textOf(piece?.["text"]) || textOf(piece?.["thinking"]);
}
