/** Whose message may follow whose, for upstreams that refuse other orders: the conversation in one that they take. */
import { arrayText } from "../../json/text.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { instructionAsText } from "../../request/part.js";

/**
 * The roles that may follow each role, by the name of the latter; `end` stands for the end of the conversation. A role
 * without a row may be followed by any.
 */
export type RoleOrder = Readonly<Record<string, readonly string[]>>;

/** A message as JSON, and its role. */
export interface RoledMessage {
  readonly role: string;
  readonly json: string | Buffer;
}

/** What an assistant says so that a user may speak. Short, and no answer to anything. */
const BRIDGE: RoledMessage = { role: "assistant", json: '{"role":"assistant","content":"OK."}' };
const END = "end";

/**
 * The messages in an order that the upstream takes: instructions that may not stand in their place become the user's
 * words, and an assistant speaks where the user may not. What no such change helps stays, for the upstream to refuse.
 * The very same list where nothing is to be done.
 */
export function inRoleOrder(messages: readonly RoledMessage[], order: RoleOrder): readonly RoledMessage[] {
  const rows = new Map(Object.entries(order));
  if (rows.size === 0) return messages;
  const mayFollow = (role: string, before = ""): boolean => rows.get(before)?.includes(role) !== false;
  const ordered: RoledMessage[] = [];
  let isChanged = false;
  messages.forEach((told, place) => {
    const before = ordered.at(-1)?.role;
    const isLast = place > 0 && place === messages.length - 1;
    const isInPlace = mayFollow(told.role, before) && (!isLast || mayFollow(END, told.role));
    const message = told.role === "system" && !isInPlace ? asUsersWords(told) : told;
    const isBridged = !mayFollow(message.role, before) && message.role === "user";
    if (isBridged) ordered.push(BRIDGE);
    ordered.push(message);
    isChanged ||= isBridged || message !== told;
  });
  return isChanged ? ordered : messages;
}

export function messagesText(messages: readonly RoledMessage[]): string {
  return arrayText(messages.map(({ json }) => json.toString()));
}

function asUsersWords({ json }: RoledMessage): RoledMessage {
  const content = objectOf(parsed(json.toString()))?.["content"];
  const parts = listOf(content).map((part) => textOf(objectOf(part)?.["text"]));
  const text = typeof content === "string" ? content : parts.join("\n\n");
  return { role: "user", json: `{"role":"user","content":${JSON.stringify(instructionAsText(text))}}` };
}
