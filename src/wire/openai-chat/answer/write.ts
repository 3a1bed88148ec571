/** Writes whole answers for a client. */
import type { Answer, Candidate, Part, ToolCall } from "../../../api/index.js";
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";
import type { WireRequest } from "../../wire.js";
import { encodeLogprobs } from "../../openai/answer/logprobs.js";
import { encodeWhole } from "../../openai/answer/write-whole.js";
import { addDetail, encodeDeltaPart } from "./write-parts.js";
import { finishName } from "./finish.js";

/** Writes a whole answer for a client. Throws UPSTREAM_FAILED where it is malformed. */
export function encodeAnswer(answer: Answer, asked?: () => WireRequest): Buffer {
  // What was asked is read again only where it decides something.
  const isOlder = answer.candidates.some(hasCalls) && asked?.().facts.asksFunctions === true;
  return encodeWhole(answer, "chat.completion", (candidate) => encodeCandidate(candidate, isOlder));
}

function hasCalls({ message }: Candidate): boolean {
  return message?.parts.some(({ kind }) => kind?.$case === "toolCall") === true;
}

function encodeCandidate(candidate: Candidate, isOlder: boolean): JsonObject {
  const { index, message, finishReason, stopString, logprobs } = candidate;
  return {
    index,
    message: encodeMessage(message?.parts ?? [], isOlder),
    logprobs: logprobs === undefined ? null : encodeLogprobs(logprobs),
    finish_reason: finishName(finishReason, isOlder),
    ...(stopString === undefined ? {} : { stop_reason: stopString }),
  };
}

/** An assistant's message: its texts run together, as the deltas of a stream would. The older form has one call. */
function encodeMessage(parts: readonly Part[], isOlder: boolean): JsonObject {
  const message: Record<string, unknown> = { role: "assistant", content: null, refusal: null };
  let thinking = "";
  const details: JsonObject[] = [];
  const lists = new Lists(message);
  const calls: ToolCall[] = [];
  // A proof belongs to its own thought, so where there is one every thought is told apart.
  const isSigned = parts.some(({ kind }) => kind?.$case === "thinking" && kind.value.signature !== undefined);
  for (const part of parts) {
    const { kind } = part;
    if (kind?.$case === "text") {
      message["content"] = `${textSoFar(message["content"])}${kind.value.text}`;
      if (kind.value.citationsJson !== undefined) lists.add("annotations", listOf(parsed(kind.value.citationsJson)));
    } else if (kind?.$case === "refusal") message["refusal"] = `${textSoFar(message["refusal"])}${kind.value.text}`;
    else if (kind?.$case === "thinking") {
      thinking += kind.value.text;
      if (isSigned) addDetail(details, part);
    } else if (kind?.$case === "redactedThinking") addDetail(details, part);
    else if (kind?.$case === "toolCall") calls.push(kind.value);
    else addWhole(message, lists, part);
  }
  if (thinking !== "") message["reasoning_content"] = thinking;
  if (details.length > 0) message["reasoning_details"] = details;
  const [first] = calls;
  if (first !== undefined && isOlder) message["function_call"] = { name: first.name, arguments: first.arguments };
  else if (first !== undefined) message["tool_calls"] = calls.map(encodeCall);
  return message;
}

function textSoFar(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What is no text, in the members where its dialect has it. */
function addWhole(message: Record<string, unknown>, lists: Lists, part: Part): void {
  const members = encodeDeltaPart(part);
  if (members === undefined) return;
  const told = objectOf(parsed(`{${members}}`)) ?? {};
  for (const [key, value] of Object.entries(told)) {
    if (Array.isArray(value)) lists.add(key, value);
    else message[key] = value;
  }
}

/** Members that many parts add to. Each list is added to in place: copied for each part, many took minutes. */
class Lists {
  readonly #byKey = new Map<string, unknown[]>();

  constructor(private readonly message: Record<string, unknown>) {}

  add(key: string, values: readonly unknown[]): void {
    let list = this.#byKey.get(key);
    if (list === undefined) {
      list = [];
      this.#byKey.set(key, list);
      this.message[key] = list;
    }
    for (const value of values) list.push(value);
  }
}

function encodeCall({ id, name, arguments: text, custom, signature }: ToolCall): JsonObject {
  const state = signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
  if (custom) return { id, type: "custom", custom: { name, input: text }, ...state };
  return { id, type: "function", function: { name, arguments: text }, ...state };
}
