/** Recordings of real upstreams, each with the wire that it is of, and the wires of the clients that they reach. */
import type { Event } from "../../src/api/index.js";
import { foldEvents } from "../../src/api/answer-fold.js";
import { GatewayError } from "../../src/base/errors.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { AnswerReport, Wire } from "../../src/wire/wire.js";
import * as anthropics from "../wire/anthropic/recordings.js";
import * as geminis from "../wire/gemini/recordings.js";
import * as openAiChats from "../wire/openai-chat/recordings.js";
import * as openAiResponsesRecorded from "../wire/openai-responses/recordings.js";
import { messagesReader } from "./readers/anthropic.js";
import { geminiReader, looseGeminiReader } from "./readers/gemini.js";
import type { Heard, Reader } from "./readers/heard.js";
import { chatReader, looseChatReader } from "./readers/openai-chat.js";
import { looseResponsesReader, responsesReader } from "./readers/openai-responses.js";
import { STREAM_FACTS } from "../support/stream-facts.js";

/** A family on the wire that is asked for its recordings over HTTP, and where it is served. */
export interface RecordedWire {
  readonly wire: Wire;
  /** Reads what the upstream sent. */
  readonly reader: Reader;
  readonly family: string;
  readonly streams: readonly { readonly name: string; readonly body: string }[];
  readonly answers: readonly { readonly name: string; readonly body: string }[];
}

const isGood = ({ status }: { readonly status: number }): boolean => status === 200;

export const recordedWires: readonly RecordedWire[] = [
  {
    wire: openAiChat,
    reader: looseChatReader,
    family: "openai-compatible",
    streams: openAiChats.streams.filter(isGood),
    answers: openAiChats.answers.filter(isGood),
  },
  {
    wire: anthropic,
    reader: messagesReader,
    family: "anthropic",
    streams: anthropics.streams,
    answers: anthropics.answers,
  },
  {
    wire: openAiResponses,
    reader: looseResponsesReader,
    family: "openai",
    streams: openAiResponsesRecorded.streams,
    answers: openAiResponsesRecorded.answers,
  },
  { wire: gemini, reader: looseGeminiReader, family: "gemini", streams: geminis.streams, answers: geminis.answers },
];

/** How clients read what we tell them. */
export const clientWires: readonly { readonly wire: Wire; readonly reader: Reader }[] = [
  { wire: openAiChat, reader: chatReader },
  { wire: anthropic, reader: messagesReader },
  { wire: openAiResponses, reader: responsesReader },
  { wire: gemini, reader: geminiReader },
];

export const recordingsNote = openAiChats.recordingsNote;

function finish({ usage }: AnswerReport): Event {
  return { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } };
}

/** What each client is told of an upstream's stream that comes in reads cut at the places, batch by batch. */
export function toldStreams(from: Wire, bytes: Buffer, cuts: Iterable<number>): readonly string[] {
  const decoder = from.decodeStream(STREAM_FACTS, "events");
  const encoders = clientWires.map(({ wire }) => wire.encodeStream(STREAM_FACTS));
  const told = clientWires.map((): Buffer[] => []);
  const tell = (events: readonly Event[]): void => {
    if (events.length > 0) encoders.forEach((encoder, place) => told[place]?.push(encoder.push(events)));
  };
  const forward = ({ events, error }: { events: Event[]; error: Error | undefined }): void => {
    if (error !== undefined) throw error;
    tell(events);
  };
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    // Copied, as a socket's memory is used again.
    forward(decoder.push(Buffer.from(bytes.subarray(start, cut))));
    start = cut;
  }
  forward(decoder.end());
  if (!decoder.report.complete) throw new Error("it is not complete");
  tell([finish(decoder.report)]);
  return told.map((pieces) => Buffer.concat(pieces).toString());
}

/** What each client is told of a stream that ends too early; undefined where what came is whole. */
export function toldCut(from: Wire, bytes: Buffer): readonly string[] | undefined {
  const decoder = from.decodeStream(STREAM_FACTS, "events");
  const batches = [decoder.push(Buffer.from(bytes)), decoder.end()];
  if (decoder.report.complete && batches.every(({ error }) => error === undefined)) return undefined;
  return clientWires.map(({ wire }) => {
    const encoder = wire.encodeStream(STREAM_FACTS);
    const told = batches.map(({ events }) => encoder.push(events));
    return Buffer.concat([...told, encoder.fail(new GatewayError("ERROR_REASON_UPSTREAM_FAILED"))]).toString();
  });
}

/** What each client is told of an upstream's whole answer. */
export function toldAnswers(from: Wire, body: string): readonly string[] {
  const answer = from.decodeAnswer(Buffer.from(body));
  const folded = foldEvents([...answer.events(), finish(answer.report)]);
  return clientWires.map(({ wire }) => wire.encodeAnswer(folded).toString());
}

const ENDS: Readonly<Record<string, string>> = {
  stop: "end",
  completed: "end",
  max_output_tokens: "length",
  end_turn: "end",
  STOP: "end",
  length: "length",
  max_tokens: "length",
  MAX_TOKENS: "length",
  tool_calls: "calls",
  tool_use: "calls",
  content_filter: "blocked",
  refusal: "blocked",
  SAFETY: "blocked",
};

/** What was heard in terms that all wires have: refused words as text, and the end by its meaning. */
export function meant(heard: Heard): Pick<Heard, "text" | "thinking" | "calls" | "tokens" | "end"> {
  const { text, refusal, thinking, calls } = heard;
  // Some wires must tell a usage where none is known: all of it is zero.
  const isTold = Object.values(heard.tokens ?? {}).some((count) => count > 0);
  const tokens = isTold ? heard.tokens : undefined;
  const end = ENDS[heard.end];
  if (end === undefined) throw new Error(`an end that nobody expects: ${heard.end}`);
  return { text: text + refusal, thinking, calls, tokens, end: end === "end" && calls.length > 0 ? "calls" : end };
}
