/** What the model wrote of an item that is told whole, as an estimate. */
import { jsonTokens, sealedTokens } from "../../answer/non-text.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** Members of items that the model writes; the rest of an item says how it went, and what a tool gave back. */
const WRITTEN = ["name", "action", "queries", "code", "arguments", "input", "operation"];
/** Of an item that begins with what is told later as a rule. */
const BEGUN_WITH = ["content", "summary", "arguments", "input", "action", "queries", "code", "operation"];

/** An estimate of what an item began with, which as a rule is nothing. */
export function aheadTokens(start: JsonObject): number {
  let tokens = 0;
  for (const name of BEGUN_WITH) {
    const told = start[name];
    if (typeof told === "string" ? told !== "" : listOf(told).length > 0 || objectOf(told) !== undefined)
      tokens += jsonTokens(told);
  }
  return tokens;
}

/** Of a call that the upstream ran, and of what only the wire understands: what stands for a conversation is sealed. */
export function writtenTokens(whole: JsonObject): number {
  let tokens = textOf(whole["type"]).startsWith("compaction") ? sealedTokens(textOf(whole["encrypted_content"])) : 0;
  for (const name of WRITTEN) if (whole[name] !== undefined) tokens += jsonTokens(whole[name]);
  return tokens;
}
