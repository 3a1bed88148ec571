/** The body for an upstream: the client's own with what the gateway owns changed, or the typed prompt written anew. */
import type { Prompt } from "../../../api/index.js";
import { effortOf } from "../../request/efforts.js";
import { objectOf, parsed } from "../../json/value.js";
import { JsonCursor } from "../../json/cursor.js";
import { type Member, readMembers, splice, valueText } from "../../json/splice.js";
import { mayAskAgainst, steersThinking } from "../../request/obeyed-facts.js";
import { againstFacts, ordersIn, ownedEdits, type OwnWriter, unwritten } from "../../request/owned-fields.js";
import { sayWhole } from "../../openai/request/say-whole.js";
import { fittedPrompt } from "../../openai/request/encode-foreign.js";
import { LIMIT_NAMES } from "../../openai/request/members.js";
import type { ModelFacts, OwnedFields, UpstreamWire, WireRequest } from "../../wire.js";
import { type CompleteDialect, dialectOf, type OpenAiChatDialect } from "../facts-dialect.js";
import { type FitContext, fitSource } from "./encode-fitted.js";
import { refuseNamedFiles } from "./encode-named-files.js";
import { encodePrompt } from "./encode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import { MEMBERS } from "./members.js";
import { WIRE_NAME } from "../facts.js";
import { ChatRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes where they came in this wire, else written from the prompt. */
export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, dialect, dropped = []) => {
  const known = dialectOf(dialect);
  const body = encode(request, owned, known, dropped);
  if (known.keptSchemes.length > 0) refuseNamedFiles(body, known.keptSchemes);
  return body;
};

function encode(request: WireRequest, owned: OwnedFields, known: CompleteDialect, dropped: string[]): Buffer {
  const { source } = request;
  const { model, facts = NO_FACTS } = owned;
  const context = { dialect: known, facts, model };
  if (source?.wire === WIRE_NAME) {
    const own = ownAgainstFacts(request, source.body, owned, known, dropped);
    const isRead = own === undefined && request instanceof ChatRequest;
    const scan = isRead ? request.scan : scanRequest(own ?? source.body);
    const orders = own === undefined ? owned : ordersIn(scan, request, owned);
    return spliceOwned(own ?? source.body, scan, orders, { ...context, dropped });
  }
  const limits = limitsOf(facts, known, request.prompt(), model);
  const anew = unwritten(request, owned, WIRE_NAME, (prompt) => fittedPrompt(prompt, limits, dropped));
  const drop = (param: string): void => void dropped.push(param);
  return encodePrompt(anew.prompt, anew.owned, { ...context, isForeign: anew.isForeign, drop });
}

/**
 * A body of this wire that asks for what the model, or the upstream, does not do. For upstreams that refuse or leave it
 * out themselves, and for those of which nobody knows it, only what the settings say changes the body.
 */
function ownAgainstFacts(
  request: WireRequest,
  own: Buffer,
  owned: OwnedFields,
  known: CompleteDialect,
  dropped: string[],
): Buffer | undefined {
  const { toldFacts = NO_FACTS, facts = NO_FACTS } = owned;
  const isLeftToIt = known.isOpenAis || known.keepsBodies || known.fitsModels;
  // Of thoughts upstreams know more than names tell.
  const { thinking, efforts } = toldFacts;
  const heeded = { ...(isLeftToIt ? toldFacts : facts), thinking, efforts, withoutThinking: undefined };
  const { members = [] } = request;
  const lacking = { schemas: takesSchemas(known, owned.model), forcedTools: known.forcedWhileThinking };
  const mayThink = steersThinking(heeded) && members.some(({ key }) => key === EFFORT || THINKING.has(key));
  const isPlain = !mayThink && !mayAskAgainst(heeded, members) && !mayAskAgainst(lacking, members);
  if (isPlain && owned.parameters === undefined) return undefined;
  const prompt = request.prompt();
  const limits = { ...limitsOf({ ...heeded, thinking: facts.thinking }, known, prompt, owned.model), thinking };
  return againstFacts(own, () => prompt, owned, ownWriter(owned, known), dropped, limits);
}

const EFFORT = "reasoning_effort";
/** Members by which clients of one upstream or another say how much a model shall think. */
const THINKING: ReadonlySet<string> = new Set([
  "reasoning",
  "include_reasoning",
  "reasoning_format",
  "thinking",
  "enable_thinking",
  "thinking_budget",
]);

/** Writes a prompt as clients of the wire say it: what the upstream has otherwise is fitted behind it. */
function ownWriter(owned: OwnedFields, known: CompleteDialect): OwnWriter {
  const dialect: CompleteDialect = { ...known, ...AS_SAID };
  const { model, facts = NO_FACTS } = owned;
  return {
    older: { tools: "functions", tool_choice: "function_call" },
    thinkingMembers: THINKING,
    write: (prompt, _thinking, drop) =>
      encodePrompt(prompt, { ...owned, cache: undefined }, { dialect, model, facts, isForeign: false, drop }),
  };
}

const AS_SAID = {
  topK: true,
  seedField: "seed",
  thinkingControl: EFFORT,
  requiredChoice: "required",
  allowedTools: true,
  customTools: true,
  lacks: [],
} as const;

/** What is known of the model, with what its upstream lacks whatever the model. */
function limitsOf(facts: ModelFacts, known: CompleteDialect, asked: Prompt | undefined, model: string): ModelFacts {
  const schemas = facts.schemas ?? (takesSchemas(known, model) ? undefined : false);
  const mustThink = !known.forcedWhileThinking && asked !== undefined && isThinking(asked, facts);
  return { ...facts, schemas, forcedTools: mustThink ? false : facts.forcedTools };
}

/** False where the upstream, or only this model there, cannot be bound to a schema. */
function takesSchemas({ schemas, schemaModels }: CompleteDialect, model: string): boolean {
  if (!schemas || schemaModels.length === 0) return schemas;
  // What stands before a slash tells who made it.
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return schemaModels.some((start) => name.startsWith(start));
}

/** True where the model will think, as far as it is known: it was told to, or does unless it is told not to. */
function isThinking({ reasoning, extra }: Prompt, { thinking, thinksUnasked }: ModelFacts): boolean {
  if (thinking === "none") return false;
  const native = objectOf(objectOf(parsed(extra?.wire === WIRE_NAME ? extra.json : "{}"))?.["thinking"])?.["type"];
  if (native !== undefined) return native !== "disabled";
  const effort = reasoning === undefined ? undefined : effortOf(reasoning);
  return effort === undefined ? thinksUnasked === true || thinking === "always" : effort !== "none";
}

const NO_FACTS: ModelFacts = {};

/** The client's body with what the gateway owns; the very same buffer where nothing differs. */
function spliceOwned(body: Buffer, scan: Scan, owned: OwnedFields, context: FitContext): Buffer {
  const { facts, members, open } = scan;
  const { dialect } = context;
  const edits = ownedEdits(owned, { body, members, facts, table: MEMBERS });
  if (owned.candidateCount !== facts.candidateCount) edits.set("n", String(owned.candidateCount));
  if (owned.outputTokensMax !== undefined) limitOutput(body, members, owned.outputTokensMax, dialect, edits);
  if (!owned.stream && dialect.saysWhole && !facts.stream) sayWhole(body, members, edits);
  const options = members.find((member) => member.key === "stream_options");
  // Options of a stream are refused where there is none.
  if (!owned.stream && options !== undefined && facts.stream) edits.set(options.key, undefined);
  else if (owned.stream && dialect.streamUsage && !facts.includeUsage)
    edits.set("stream_options", withUsage(body, options));
  if (!dialect.sessionIds && !dialect.keepsBodies && members.some(({ key }) => key === "session_id"))
    edits.set("session_id", undefined);
  if (!dialect.isOpenAis && !dialect.keepsBodies) fitSource(body, members, context, edits);
  return edits.size === 0 ? body : splice(body, open, members, edits);
}

/**
 * Writes the limit over each field that the client sent, whatever its name; where it sent none, into the upstream's.
 */
function limitOutput(
  body: Buffer,
  members: readonly Member[],
  limit: number,
  dialect: OpenAiChatDialect,
  edits: Map<string, Buffer | string | undefined>,
): void {
  let isSent = false;
  for (const member of members) {
    if (member.key !== "max_completion_tokens" && member.key !== "max_tokens") {
      // Another upstream's name for it would stand beside ours, and whoever knows both may prefer it.
      if (LIMIT_NAMES.includes(member.key)) edits.set(member.key, undefined);
      continue;
    }
    const text = valueText(body, member);
    if (text === "null") continue;
    isSent = true;
    // An upstream that does not heed the newer name would have no limit at all.
    if (member.key === "max_completion_tokens" && !dialect.newLimit) {
      edits.set(member.key, undefined);
      edits.set("max_tokens", String(limit));
    } else if (Number(text) !== limit) edits.set(member.key, String(limit));
  }
  if (!isSent) edits.set(dialect.outputTokensField, String(limit));
}

/** The stream options with the usage asked for, and every other option kept. */
function withUsage(body: Buffer, options: Member | undefined): Buffer | string {
  if (options === undefined || valueText(body, options) === "null") return '{"include_usage":true}';
  const value = body.subarray(options.valueStart, options.end);
  return splice(value, 0, readMembers(new JsonCursor(value)), new Map([["include_usage", "true"]]));
}
