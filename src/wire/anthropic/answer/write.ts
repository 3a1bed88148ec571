/** Writes whole answers for a client. */
import { encodeCallId } from "./call-id.js";
import { type Answer, type Candidate, FinishReason, type Part } from "../../../api/index.js";
import { inputObject } from "../../request/call-input.js";
import { checkedJson, jsonOf, objectText, arrayText } from "../../json/text.js";
import { type JsonObject } from "../../json/value.js";
import { encodeReason } from "./finish.js";
import { textBlock } from "../request/encode-parts.js";
import { WIRE_NAME } from "../facts.js";
import { encodeCallState, encodeProof, encodeRedacted } from "./proof.js";
import { encodeUsage } from "./usage.js";

/** Its first candidate, for the wire has one. Throws UPSTREAM_FAILED where it is malformed. */
export function encodeAnswer(answer: Answer): Buffer {
  const candidate = answer.candidates.find(({ index }) => index === 0) ?? answer.candidates[0];
  const parts = candidate?.message?.parts ?? [];
  const hasCalls = parts.some(({ kind }) => kind?.$case === "toolCall");
  const refusal = parts.map(({ kind }) => (kind?.$case === "refusal" ? kind.value.text : "")).join("");
  const isBlocked = candidate?.finishReason === FinishReason.FINISH_REASON_BLOCKED;
  const blocks = parts.flatMap(encodeAnswerPart);
  // A model's own refusal is said in words; only what was withheld from outside is explained beside them.
  if (refusal !== "" && !isBlocked) blocks.push(textBlock(refusal));
  const text = objectText([
    ["id", jsonOf(answer.id)],
    ["type", '"message"'],
    ["role", '"assistant"'],
    ["model", jsonOf(answer.model)],
    ["content", arrayText(blocks)],
    ...endMembers(candidate, hasCalls, refusal),
    ["diagnostics", "null"],
    ["usage", JSON.stringify(encodeUsage(answer.usage))],
  ]);
  return Buffer.from(text);
}

/** Who makes the calls of an answer: the model itself. */
export const CALLER: JsonObject = { type: "direct" };

type Ending = Pick<Candidate, "finishReason" | "stopString"> | undefined;

/** The members that say why a message ended. */
export function endMembers(
  candidate: Ending,
  hasCalls: boolean,
  refusal: string,
): readonly (readonly [string, string])[] {
  const reason = candidate?.finishReason ?? FinishReason.FINISH_REASON_UNSPECIFIED;
  const isBlocked = reason === FinishReason.FINISH_REASON_BLOCKED;
  const isRefusal = isBlocked || (refusal !== "" && !hasCalls);
  const explanation = isBlocked && refusal !== "" ? refusal : null;
  const details = { type: "refusal", category: null, explanation };
  return [
    ["container", "null"],
    ["stop_reason", JSON.stringify(isRefusal ? "refusal" : encodeReason(reason, hasCalls))],
    ["stop_sequence", JSON.stringify(candidate?.stopString ?? null)],
    ["stop_details", isRefusal ? JSON.stringify(details) : "null"],
  ];
}

/** The blocks of one part of an answer; refusals are told by the end. */
export function encodeAnswerPart({ kind }: Part): string[] {
  switch (kind?.$case) {
    case "text":
      return kind.value.text === "" ? [] : [textBlock(kind.value.text)];
    case "thinking":
      return [thinkingBlock(kind.value.text, encodeProof(kind.value.signature))];
    case "redactedThinking":
      return [
        objectText([
          ["type", '"redacted_thinking"'],
          ["data", jsonOf(encodeRedacted(kind.value.data))],
        ]),
      ];
    case "toolCall": {
      const { id, name, arguments: text, custom, signature } = kind.value;
      const call = objectText([
        ["type", '"tool_use"'],
        ["id", jsonOf(encodeCallId(id))],
        ["name", jsonOf(name)],
        ["input", custom ? `{"input":${JSON.stringify(text)}}` : inputObject(text)],
        ["caller", JSON.stringify(CALLER)],
      ]);
      return signature === undefined ? [call] : [thinkingBlock("", encodeCallState(signature)), call];
    }
    case "opaque":
      return kind.value.wire === WIRE_NAME ? [checkedJson(kind.value.json, "content") ?? "{}"] : [];
    case "audio":
      return kind.value.transcript === undefined ? [] : [textBlock(kind.value.transcript)];
    case "refusal":
    case "image":
    case "file":
    case "toolResult":
    case undefined:
      return [];
    default:
      return kind satisfies never;
  }
}

export function thinkingBlock(text: string, proof: string): string {
  return objectText([
    ["type", '"thinking"'],
    ["thinking", jsonOf(text)],
    ["signature", jsonOf(proof)],
  ]);
}
