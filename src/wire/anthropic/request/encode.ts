/** The body for an upstream: the client's own with what the gateway owns changed, or the typed prompt written anew. */
import { CALLS_MAX_DEFAULT, type HostedTool } from "../../request/hosted-tools.js";
import { PLAIN_NAMES, withFittedNames } from "../../request/fitted-names.js";
import { splice } from "../../json/splice.js";
import { againstFacts, ordersIn, ownedEdits, type OwnWriter, unwritten } from "../../request/owned-fields.js";
import type { OwnedFields, UpstreamWire, WireRequest } from "../../wire.js";
import { BOUNDED } from "./members.js";
import { type ModelRules, rulesOf } from "../../claude/request/encode-rules.js";
import { editMarks } from "./encode-marks.js";
import { encodePrompt } from "./encode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import type { MarkedList, Span } from "./scan-messages.js";
import { WIRE_NAME } from "../facts.js";
import { MessagesRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes where they came in this wire, else written from the prompt. */
export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, _dialect, dropped = []) => {
  const { source } = request;
  if (source?.wire === WIRE_NAME) {
    const own = againstFacts(source.body, () => request.prompt(), owned, ownWriter(request, owned), dropped);
    if (own !== undefined) {
      const scan = scanRequest({ ...source, body: own }, "count");
      return spliceOwned(own, scan, ordersIn(scan, request, owned));
    }
    const scan = request instanceof MessagesRequest ? request.scan : scanRequest(source, "generate");
    return spliceOwned(source.body, scan, owned);
  }
  const anew = unwritten(request, owned, WIRE_NAME, (prompt) => withFittedNames(prompt, PLAIN_NAMES));
  return encodePrompt(anew.prompt, anew.owned, {
    rules: rulesOf(owned.facts),
    model: owned.model,
    isForeign: anew.isForeign,
    boundsTools: owned.toolOrders !== undefined,
    drop: (param) => void dropped.push(param),
  });
};

/** A model that takes all that the wire can say. */
const AS_SAID: ModelRules = {
  outputTokensMax: 1_000_000,
  sampling: "both",
  thinking: "adaptive",
  withoutThinking: "disabled",
  efforts: ["minimal", "low", "medium", "high", "xhigh", "max"],
  forcedTools: true,
  prefill: true,
  systemTurns: true,
  schemas: true,
};

const BY_BUDGET: ModelRules = { ...AS_SAID, thinking: "budget" };

function ownWriter({ facts }: WireRequest, owned: OwnedFields): OwnWriter {
  const { model } = owned;
  // A budget of thoughts must lie within the limit.
  const limited = { ...owned, outputTokensMax: owned.outputTokensMax ?? facts.outputTokensMax };
  return {
    write: (prompt, told, drop) => {
      const keepsThoughts = told.thinking === undefined;
      // A budget is said as one, and all else by an effort.
      const hasBudget = keepsThoughts && prompt.reasoning?.budgetTokens !== undefined;
      const rules = rulesOf(told, hasBudget ? BY_BUDGET : AS_SAID);
      return encodePrompt(prompt, limited, { rules, model, isForeign: false, isAsSaid: true, keepsThoughts, drop });
    },
  };
}

/** The client's body with what the gateway owns; the very same buffer where nothing differs. */
function spliceOwned(body: Buffer, scan: Scan, owned: OwnedFields): Buffer {
  const { facts, members, open, ourThoughts } = scan;
  const edits = ownedEdits(owned, { body, members, facts }, "max_tokens");
  const unbounded = owned.toolOrders?.unbounded.filter(({ name, place }) => BOUNDED.has(name) && place !== undefined);
  const tools = members.find(({ key }) => key === "tools");
  if (unbounded !== undefined && unbounded.length > 0 && tools !== undefined)
    edits.set("tools", withBounds(body, { start: tools.valueStart, end: tools.end }, unbounded));
  const messages = members.find(({ key }) => key === "messages");
  if (ourThoughts.length > 0 && messages !== undefined)
    edits.set("messages", withoutThoughts(body, { start: messages.valueStart, end: messages.end }, ourThoughts));
  if (owned.cacheMarks !== undefined) editMarks(body, members, owned.cacheMarks, edits);
  return edits.size === 0 ? body : splice(body, open, members, edits);
}

/** The tools with a bound of their calls, where the client set none: the hold covers no more. */
function withBounds(body: Buffer, tools: Span, unbounded: readonly HostedTool[]): Buffer {
  const pieces: Buffer[] = [];
  let kept = tools.start;
  for (const { end } of unbounded) {
    // It has a type, so a comma must come first.
    pieces.push(body.subarray(kept, end), Buffer.from(`,"max_uses":${CALLS_MAX_DEFAULT}`));
    kept = end;
  }
  pieces.push(body.subarray(kept, tools.end));
  return Buffer.concat(pieces);
}

/** The messages without the thoughts that only stood in for another upstream's, whose proof Anthropic would refuse. */
function withoutThoughts(body: Buffer, messages: Span, lists: readonly MarkedList[]): Buffer {
  const pieces: Buffer[] = [];
  let kept = messages.start;
  for (const { list, items, marked } of lists) {
    const left = items.filter((_, place) => !marked.includes(place));
    const texts = left.map(({ start, end }) => body.subarray(start, end));
    // A message must say something; one that held such thoughts alone says that it went on.
    if (texts.length === 0) texts.push(Buffer.from('{"type":"text","text":"..."}'));
    const joined = texts.flatMap((text, place) => (place === 0 ? [text] : [COMMA, text]));
    pieces.push(body.subarray(kept, list.start), OPEN, ...joined, CLOSE);
    kept = list.end;
  }
  pieces.push(body.subarray(kept, messages.end));
  return Buffer.concat(pieces);
}

const OPEN = Buffer.from("[");

const CLOSE = Buffer.from("]");

const COMMA = Buffer.from(",");
