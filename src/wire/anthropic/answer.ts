/** Whole answers, both directions. */
import { encodeCallId } from "./call-id.js";
import { type Answer, type Candidate, FinishReason, type Part } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { inputObject } from "../call-input.js";
import { type JsonNode, readTree } from "../json/node.js";
import { checkedJson, jsonOf, objectText, arrayText } from "../json/text.js";
import { type JsonObject, listOf, objectOf, parsed } from "../json/value.js";
import type { DecodedAnswer, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";
import { decodeToldError } from "./error.js";
import { encodeReason } from "./finish.js";
import { textBlock } from "./part-encode.js";
import { WIRE_NAME } from "./schema.js";
import { encodeCallState, encodeProof } from "./signature.js";
import { encodeUsage } from "./usage.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  if (answer === undefined) throw failed("its answer is no JSON object");
  if (answer["type"] === "error" || objectOf(answer["error"]) !== undefined) throw decodeToldError(answer["error"]);
  if (!Array.isArray(answer["content"])) throw failed("its answer holds no content");
  const report = read(answer, [], new AnswerReader(false, undefined));
  return { report, events: () => read(answer, inputsOf(body), new AnswerReader(true, asked)).takeEvents() };
}

function read(answer: JsonObject, inputs: readonly (string | undefined)[], reader: AnswerReader): AnswerReader {
  reader.start(answer);
  for (const [index, block] of listOf(answer["content"]).entries())
    reader.block(index, objectOf(block) ?? {}, inputs[index]);
  reader.noteUsage(answer["usage"]);
  reader.noteEnd(answer);
  // A body that can be read at all is whole, whatever reasons it gives.
  reader.finish();
  return reader;
}

/** The inputs of calls as the upstream wrote them: no double holds all of their numbers. */
function inputsOf(body: Buffer): (string | undefined)[] {
  let content: JsonNode | undefined;
  try {
    content = readTree(body).members.get("content");
  } catch {
    // What the strict reader refuses is told as it was parsed.
  }
  return content?.items.map((block) => block.members.get("input")?.raw()) ?? [];
}

function failed(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}

/** Writes a whole answer for a client: its first candidate, for the wire has one. */
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
          ["data", jsonOf(kind.value.data)],
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
