/** The body for an upstream: the client's own with what the gateway owns changed, or the typed prompt written anew. */
import type { Prompt } from "../../../api/index.js";
import { obeyFacts, type ThinkingFacts } from "../../request/obeyed-facts.js";
import { JsonCursor } from "../../json/cursor.js";
import { type Edits, readMembers, splice } from "../../json/splice.js";
import { againstFacts, type OwnWriter, unwritten } from "../../request/owned-fields.js";
import type { OwnedFields, UpstreamWire } from "../../wire.js";
import { withFittedNames } from "../../request/fitted-names.js";
import { type ModelRules, rulesOf } from "./encode-rules.js";
import { encodePrompt } from "./encode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import { fieldName, NAMES, WIRE_NAME } from "../facts.js";
import { GeminiRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes where they came in this wire, else written from the prompt. */
export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, _dialect, dropped = []) => {
  const { source } = request;
  const drop = (param: string): void => void dropped.push(param);
  if (source?.wire === WIRE_NAME) {
    const own = againstFacts(source.body, () => request.prompt(), owned, ownWriter(owned), dropped);
    if (own !== undefined) return spliceOwned(own, scanRequest({ ...source, body: own }), owned);
    const scan = request instanceof GeminiRequest ? request.scan : scanRequest(source);
    return spliceOwned(source.body, scan, owned);
  }
  const fit = (prompt: Prompt): Prompt => withFittedNames(obeyFacts(prompt, owned.facts ?? {}, drop), NAMES);
  const anew = unwritten(request, owned, WIRE_NAME, fit);
  return encodePrompt(anew.prompt, anew.owned, {
    rules: rulesOf(owned.facts),
    model: owned.model,
    isForeign: anew.isForeign,
    drop,
  });
};

/** The rules of thoughts alone: what was said of all else is said again as it was. */
function ownWriter(owned: OwnedFields): OwnWriter {
  const { model } = owned;
  const rules = (thinking: ThinkingFacts): ModelRules => ({ ...rulesOf(thinking), needsSignature: false });
  return {
    nameOf: fieldName,
    write: (prompt, thinking, drop) =>
      encodePrompt(prompt, owned, { rules: rules(thinking), model, isForeign: false, drop }),
  };
}

/** The client's body with what the gateway owns; the very same buffer where nothing differs. */
function spliceOwned(body: Buffer, { facts, members, open }: Scan, owned: OwnedFields): Buffer {
  const limits = new Map<string, number>();
  if (owned.outputTokensMax !== undefined && owned.outputTokensMax !== facts.outputTokensMax)
    limits.set("maxOutputTokens", owned.outputTokensMax);
  if (owned.candidateCount !== facts.candidateCount) limits.set("candidateCount", owned.candidateCount);
  const edits = new Map<string, Buffer | string | undefined>();
  for (const { key, valueStart, end } of members) {
    // The path names the model; a body that names one too must not name another.
    if (key === "model") edits.set(key, JSON.stringify(`models/${owned.model}`));
    else if (fieldName(key) === "generationConfig" && limits.size > 0)
      edits.set(key, withLimits(body.subarray(valueStart, end), limits));
  }
  const hasConfig = members.some(({ key }) => fieldName(key) === "generationConfig");
  if (!hasConfig && limits.size > 0) edits.set("generationConfig", JSON.stringify(Object.fromEntries(limits)));
  return edits.size === 0 ? body : splice(body, open, members, edits);
}

/** The configuration with the limits written over the client's own, by the names that the client gave them. */
function withLimits(config: Buffer, limits: ReadonlyMap<string, number>): Buffer | string {
  if (config.toString("latin1") === "null") return JSON.stringify(Object.fromEntries(limits));
  const members = readMembers(new JsonCursor(config));
  const edits: Edits = new Map(
    [...limits].map(([name, limit]) => [
      members.find(({ key }) => fieldName(key) === name)?.key ?? name,
      String(limit),
    ]),
  );
  return splice(config, 0, members, edits);
}
