/**
 * Compaction items of ours: the summary of a conversation that a model wrote which cannot seal one itself. It is no
 * secret, since it tells a client its own conversation; a client that wrote one would say what it may say in words.
 */
import { isUtf8 } from "node:buffer";
import { type Prompt, Role, ToolChoice_Mode } from "../../api/index.js";
import { jsonOf } from "../json/text.js";
import { messageOf, textPart } from "../request/part.js";
import { OUR_SUMMARY } from "./answer/proof.js";

/** Asked behind the conversation, where its model is asked for what stands for it. */
const SUM_UP =
  "Write a summary of this conversation that takes its place: whoever goes on with it will see the summary alone. " +
  "Keep what the user wants, in the user's own words where they matter, and every rule that was given. " +
  "Keep decisions with their reasons, names of files and other things, commands with their results, and values. " +
  "Say what is done, what is not, and what comes next. Call no tool. Answer with the summary and nothing else.";

/** What it adds to what is read, at most: a message of these words. */
export const SUM_UP_BYTES = Buffer.byteLength(JSON.stringify({ role: "user", content: SUM_UP }));

/** So that nobody takes it for what was said in a turn. */
const HEADING = "Summary of the conversation so far:\n\n";

/** The same conversation, whose model is asked to sum it up. The tools stay, since calls of them may stand in it. */
export function askSummary(prompt: Prompt): Prompt {
  const none = { mode: ToolChoice_Mode.MODE_NONE, names: [], custom: false };
  return {
    ...prompt,
    messages: [...prompt.messages, messageOf(Role.ROLE_USER, [textPart(SUM_UP)])],
    toolChoice: prompt.tools.length === 0 ? undefined : none,
    outputFormat: undefined,
  };
}

/** The item that stands for a conversation from then on. */
export function compactionItem(id: string, summary: string): string {
  const content = OUR_SUMMARY + Buffer.from(summary).toString("base64url");
  return `{"id":${jsonOf(id)},"type":"compaction","encrypted_content":${jsonOf(content)}}`;
}

/**
 * What the encrypted content of such an item says, with its heading; undefined where only its upstream can read it. Of
 * bytes that are no text nothing is made: each would become a sign that takes three.
 */
export function readSummary(content: string): string | undefined {
  if (!content.startsWith(OUR_SUMMARY)) return undefined;
  const bytes = Buffer.from(content.slice(OUR_SUMMARY.length), "base64url");
  return HEADING + (isUtf8(bytes) ? bytes.toString() : "");
}
