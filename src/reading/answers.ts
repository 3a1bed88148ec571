/** Whole answers in the thread beside the event loop: read, told step by step, and written for their clients. */
import assert from "node:assert";
import { type Answer, type EmbedResponse, type Event, Finish, StreamGenerateResponse } from "../api/index.js";
import { withoutByteOrderMark } from "../base/bytes/byte-order-mark.js";
import { asBuffer } from "../base/bytes/bytes.js";
import { AnswerFold, foldEvents } from "../api/answer-fold.js";
import { asUtf8 } from "../base/bytes/utf8.js";
import { isTypedForm } from "../api/typed-form.js";
import { families } from "../families/index.js";
import { endpointFor } from "../families/family.js";
import { ToldModel } from "../wire/answer/told-model.js";
import { readable, upstreamFailed } from "../wire/error/refusals.js";
import { isUnreadable } from "../wire/json/weight.js";
import type { AnswerOrder, AnswerReport, DecodedAnswer, SourceBody, WireRequest } from "../wire/wire.js";
import type { AnswerInBytes, FoldOrder, TellOrder } from "./protocol.js";
import { clientWires, embeddingWires, readers } from "./readers.js";

/** The most of an answer's text that is kept to be counted: more than any model writes. */
const TEXT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Names that an answer tells are looked up by their first characters. */
const NAME_CHARACTERS_MAX = 1_024;
/** The most characters of one step, and the bytes from which a message of steps is sent. */
const STEP_CHARACTERS_MAX = 65_536;
const MESSAGE_BYTES = 65_536;
/** The most steps that are told, and tokens with their odds: each is an object on the event loop. */
const STEPS_MAX = 32_768;
/** Of tokens with their odds, so many stand in one step. */
const STEP_TOKENS = 256;
const NO_BYTES = Buffer.alloc(0);

/** Throws what the wire throws, and UPSTREAM_FAILED for anything else. */
export function readAnswer(body: Buffer, order: AnswerOrder): AnswerInBytes {
  return readable(() => inBytes(body, order));
}

/** The same. */
export function tellAnswer(body: Buffer, order: AnswerOrder, to: TellOrder): Buffer {
  return readable(() => written(body, order, to));
}

/** The same of one whose steps came as a stream. */
export function tellGathered(body: Buffer, order: FoldOrder, to: TellOrder): Buffer {
  return readable(() => {
    const fold = new AnswerFold();
    let at = 0;
    for (const length of order.lengths) {
      fold.push(StreamGenerateResponse.decode(body.subarray(at, at + length)).events);
      at += length;
    }
    fold.push([finishOf(to)]);
    return encoded(fold.answer(), to, () => requestOf(order.asked));
  });
}

function inBytes(body: Buffer, order: AnswerOrder): AnswerInBytes {
  const answer = decoded(body, order);
  const isTyped = order.form === "events" || order.tellsSteps;
  const events = isTyped ? answer.events() : [];
  const isTold = order.tellsSteps;
  return {
    report: reportOf(answer.report),
    source: isTyped ? NO_BYTES : sourceOf(answer, body),
    steps: isTold ? messagesOf(events) : [],
    vectors: isTold ? answer.embeddings?.().map(({ values }) => Float64Array.from(values)) : undefined,
  };
}

/** The bytes that a client is given; undefined where they are the body as it came. */
function sourceOf(answer: DecodedAnswer, body: Buffer): Buffer | undefined {
  const source = asUtf8(answer.source ?? body);
  return source === body ? undefined : source;
}

function written(body: Buffer, order: AnswerOrder, to: TellOrder): Buffer {
  const decodedAnswer = decoded(body, order);
  const answer = foldEvents([...decodedAnswer.events(), finishOf(to)]);
  const asked = (): WireRequest => requestOf(order.asked);
  const embeddingWire = embeddingWires.get(to.wire);
  if (embeddingWire === undefined) return encoded(answer, to, asked);
  answer.createTime ??= to.createTime;
  return embeddingWire.encodeAnswer(vectorsOf(decodedAnswer, answer), asked());
}

function finishOf({ finish }: TellOrder): Event {
  return { kind: { $case: "finish", value: Finish.decode(finish) } };
}

function encoded(answer: Answer, { wire, createTime }: TellOrder, asked: () => WireRequest): Buffer {
  answer.createTime ??= createTime;
  const clientWire = clientWires.get(wire);
  assert(clientWire !== undefined, `no wire is called ${wire}`);
  return clientWire.encodeAnswer(answer, asked);
}

function decoded(body: Buffer, order: AnswerOrder): DecodedAnswer {
  const family = families.find(({ name }) => name === order.family);
  assert(family !== undefined, `no family is called ${order.family}`);
  // Of vectors, the wire bounds what it parses: where they pass by their bytes, nothing is made of their numbers.
  if (order.kind !== "embedding" && isUnreadable(body)) throw upstreamFailed("its answer holds too many values");
  const asked = askedBy(order);
  const { wire } = endpointFor(family, asked, order.kind);
  const whole = withoutByteOrderMark(body);
  const answer = wire.decodeAnswer(whole, asked, order.form);
  return order.toldModel === undefined ? answer : named(answer, whole, order.toldModel);
}

/** The answer under the name that its client asked for. */
function named(answer: DecodedAnswer, body: Buffer, name: string): DecodedAnswer {
  const told = new ToldModel(name);
  const source = answer.source ?? body;
  return {
    report: answer.report,
    ...(answer.embeddings === undefined ? {} : { embeddings: () => answer.embeddings?.() ?? [] }),
    get source() {
      return told.body(source);
    },
    events: () => {
      const events = answer.events();
      told.steps(events);
      return events;
    },
  };
}

/** What the answer is read by: what was asked is read where that is looked at. */
function askedBy({ facts, asked, callIds, embedding }: AnswerOrder): WireRequest {
  let read: WireRequest | undefined;
  return {
    facts,
    source: isTypedForm(asked.wire) || asked.wire === "" ? undefined : asked,
    embedding: embedding && { ...embedding, inputs: () => [] },
    callIds,
    prompt: () => (read ??= requestOf(asked)).prompt(),
  };
}

function requestOf(asked: SourceBody): WireRequest {
  const reader = readers.get(asked.wire);
  assert(reader !== undefined, `no wire is called ${asked.wire}`);
  return reader.readRequest({ ...asked, body: asBuffer(asked.body) }, "count");
}

function vectorsOf(decodedAnswer: DecodedAnswer, { model, usage, costNanos }: Answer): EmbedResponse {
  return { embeddings: [...(decodedAnswer.embeddings?.() ?? [])], model, usage, costNanos, source: NO_BYTES };
}

/** The report as plain data. */
function reportOf(report: AnswerReport): AnswerReport {
  const { made, usage, usageBroken = false, usageEarly = false, complete, text } = report;
  const { thoughtLength = 0, nonTextTokens = 0, audioTokens = 0, unknownTokens = 0 } = report;
  const { servedModel, serviceTier, containerId, toolUses, rounds } = report;
  return {
    made,
    usage,
    usageBroken,
    usageEarly,
    complete,
    text: text.slice(0, TEXT_CHARACTERS_MAX),
    thoughtLength,
    nonTextTokens,
    audioTokens,
    unknownTokens,
    servedModel: servedModel?.slice(0, NAME_CHARACTERS_MAX),
    serviceTier: serviceTier?.slice(0, NAME_CHARACTERS_MAX),
    containerId: containerId?.slice(0, NAME_CHARACTERS_MAX),
    toolUses,
    rounds,
  };
}

/** Messages of some steps each. A long text is several steps, as it would be in a stream. */
function messagesOf(events: readonly Event[]): Uint8Array[] {
  const messages: Uint8Array[] = [];
  let gathered: Event[] = [];
  let bytes = 0;
  const pieces = events.flatMap(piecesOf);
  const weight = pieces.reduce((sum, { kind }) => sum + (kind?.$case === "logprobs" ? STEP_TOKENS : 1), 0);
  if (weight > STEPS_MAX) throw upstreamFailed("its answer has too many steps");
  for (const event of pieces) {
    gathered.push(event);
    bytes += lengthOf(event);
    if (bytes < MESSAGE_BYTES) continue;
    messages.push(messageOf(gathered));
    gathered = [];
    bytes = 0;
  }
  if (gathered.length > 0) messages.push(messageOf(gathered));
  return messages;
}

function messageOf(events: Event[]): Uint8Array {
  return StreamGenerateResponse.encode({ events, source: NO_BYTES }).finish();
}

/** About as long as the event is; a part may be longer. */
function lengthOf({ kind }: Event): number {
  if (kind?.$case === "text" || kind?.$case === "refusal" || kind?.$case === "thinking") return kind.value.text.length;
  if (kind?.$case === "toolCallDelta") return kind.value.arguments.length;
  return kind?.$case === "logprobs" ? MESSAGE_BYTES : 256;
}

function piecesOf(event: Event): Event[] {
  const { kind } = event;
  switch (kind?.$case) {
    case "text":
      return slices(kind.value.text).map((text) => ({ kind: { $case: "text", value: { ...kind.value, text } } }));
    case "refusal":
      return slices(kind.value.text).map((text) => ({ kind: { $case: "refusal", value: { ...kind.value, text } } }));
    case "thinking": {
      const { value } = kind;
      // A signature ends a thought.
      return slices(value.text).map((text, place, all) => {
        const signature = place === all.length - 1 ? value.signature : undefined;
        return { kind: { $case: "thinking", value: { ...value, text, signature } } };
      });
    }
    case "toolCallDelta": {
      const { value } = kind;
      return slices(value.arguments).map((piece) => ({
        kind: { $case: "toolCallDelta", value: { ...value, arguments: piece } },
      }));
    }
    case "logprobs": {
      const { candidate, content, refusal } = kind.value;
      if (content.length + refusal.length === 0) return [event];
      return [
        ...groups(content).map((tokens) => ({ candidate, content: tokens, refusal: [] })),
        ...groups(refusal).map((tokens) => ({ candidate, content: [], refusal: tokens })),
      ].map((value) => ({ kind: { $case: "logprobs", value } }));
    }
    default:
      return [event];
  }
}

function groups<Token>(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [];
  for (let at = 0; at < tokens.length; at += STEP_TOKENS) found.push(tokens.slice(at, at + STEP_TOKENS));
  return found;
}

/** Never within a pair of halves, which is one sign. */
function slices(text: string): string[] {
  if (text.length <= STEP_CHARACTERS_MAX) return [text];
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + STEP_CHARACTERS_MAX, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}
