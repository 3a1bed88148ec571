/** The body for an upstream: the client's own with what the gateway owns changed, or the typed prompt written anew. */
import { CALLS_MAX_DEFAULT, toolsWithout } from "../../request/hosted-tools.js";
import { objectOf, parsed, textOf } from "../../json/value.js";
import type { Prompt } from "../../../api/index.js";
import { splice } from "../../json/splice.js";
import { againstFacts, ordersIn, ownedEdits, type OwnWriter, unwritten } from "../../request/owned-fields.js";
import { fittedPrompt } from "../../openai/request/encode-foreign.js";
import type { OwnedFields, UpstreamWire } from "../../wire.js";
import { encodePrompt } from "./encode-prompt.js";
import { readSummary } from "../facts-summary.js";
import { type Scan, scanRequest } from "./scan.js";
import type { Found } from "./scan-messages.js";
import { MEMBERS } from "./members.js";
import { WIRE_NAME } from "../facts.js";
import { ResponsesRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes where they came in this wire, else written from the prompt. */
export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, _dialect, dropped = []) => {
  const { source } = request;
  if (source?.wire === WIRE_NAME) {
    const prompt = (): Prompt => request.ownPrompt?.() ?? request.prompt();
    const own = againstFacts(source.body, prompt, owned, ownWriter(owned), dropped);
    if (own !== undefined) {
      const scan = scanRequest(own);
      return spliceOwned(own, scan, ordersIn(scan, request, owned));
    }
    const scan = request instanceof ResponsesRequest ? request.scan : scanRequest(source.body);
    return spliceOwned(source.body, scan, owned);
  }
  const fit = (prompt: Prompt): Prompt => fittedPrompt(prompt, owned.facts ?? {}, dropped);
  const anew = unwritten(request, owned, WIRE_NAME, fit);
  return encodePrompt(anew.prompt, anew.owned, anew.isForeign, dropped);
};

function ownWriter(owned: OwnedFields): OwnWriter {
  return {
    write: (prompt, _thinking, drop) => {
      const lost: string[] = [];
      const body = encodePrompt(prompt, { ...owned, toolOrders: undefined, cache: undefined }, false, lost);
      for (const param of lost) drop(param);
      return body;
    },
  };
}

/** Where no tool is left, what is said of their calls goes too: a choice among none is refused. */
function leaveOutTools(left: string | undefined, edits: Map<string, Buffer | string | undefined>): void {
  edits.set("tools", left);
  if (left !== undefined) return;
  edits.set("tool_choice", undefined);
  edits.set("parallel_tool_calls", undefined);
}

/**
 * The client's body with what the gateway owns, without the members `leftOut`; the very same buffer where nothing
 * differs.
 */
export function spliceOwned(body: Buffer, scan: Scan, owned: OwnedFields, leftOut: readonly string[] = []): Buffer {
  const { facts, members, open, found } = scan;
  const edits = ownedEdits(owned, { body, members, facts, table: MEMBERS }, "max_output_tokens");
  for (const { key } of members) if (leftOut.includes(key)) edits.set(key, undefined);
  const { toolOrders } = owned;
  if (toolOrders !== undefined) {
    if (toolOrders.unbounded.length > 0 && !members.some(({ key }) => key === "max_tool_calls"))
      edits.set("max_tool_calls", String(CALLS_MAX_DEFAULT));
    const tools = members.find(({ key }) => key === "tools");
    if (toolOrders.leftOut.size > 0 && tools !== undefined)
      leaveOutTools(toolsWithout(body.subarray(tools.valueStart, tools.end), toolOrders.leftOut), edits);
  }
  if (found.ours.size > 0 || found.summaries.size > 0) edits.set("input", inputForOpenAi(body, found));
  return edits.size === 0 ? body : splice(body, open, members, edits);
}

/** The items without thoughts that only stood in for another upstream's, which OpenAI would refuse. */
function inputForOpenAi(body: Buffer, { items, ours, summaries }: Found): string {
  const texts: string[] = [];
  for (const [place, { start, end }] of items.entries()) {
    if (ours.has(place)) continue;
    const text = body.toString("utf8", start, end);
    texts.push(summaries.has(place) ? inWords(text) : text);
  }
  return `[${texts.join(",")}]`;
}

/** A summary of ours as the message of a user. */
function inWords(item: string): string {
  const text = readSummary(textOf(objectOf(parsed(item))?.["encrypted_content"]));
  return JSON.stringify({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}
