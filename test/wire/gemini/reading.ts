/** Reading streams in a test: cut anywhere, as batches or run together. */
import type { Event } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { tabledFacts } from "../../../src/models/facts.js";
import { wire } from "../../../src/wire/gemini/index.js";
import type { AnswerReport, OwnedFields, RequestFacts, WireRequest } from "../../../src/wire/wire.js";

export const FACTS: RequestFacts = {
  model: "m",
  stream: true,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};

export function owned(changes: Partial<OwnedFields> = {}): OwnedFields {
  const { model = "m" } = changes;
  const facts = tabledFacts(model);
  return { model, facts, outputTokensMax: undefined, stream: false, candidateCount: 1, ...changes };
}

/** A client's body, read. */
export function request(body: object | string, model = "m", stream = false): WireRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "x-tollgate-path-model": model, ...(stream ? { "x-tollgate-path-stream": "1" } : {}) };
  return wire.readRequest({ wire: wire.name, body: Buffer.from(text), headers });
}

export interface Read {
  readonly events: Event[];
  readonly source: string;
  readonly error: GatewayError | undefined;
  readonly report: AnswerReport;
}

/** Decodes a stream that comes in reads cut at the places. */
export function readStream(
  bytes: Buffer,
  form: "events" | "source",
  cuts: readonly number[] = [],
  facts: RequestFacts = FACTS,
): Read {
  const decoder = wire.decodeStream(facts, form);
  const batches = [];
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    batches.push(decoder.push(Buffer.from(bytes.subarray(start, cut))));
    start = cut;
  }
  batches.push(decoder.end());
  return {
    events: batches.flatMap((batch) => batch.events),
    source: Buffer.concat(batches.map((batch) => batch.source)).toString("latin1"),
    error: batches.find((batch) => batch.error !== undefined)?.error,
    report: decoder.report,
  };
}

/** The events of payloads, as an upstream sends them. */
export function sse(...payloads: readonly (object | string)[]): string {
  return payloads
    .map((payload) => `data: ${typeof payload === "string" ? payload : JSON.stringify(payload)}\n\n`)
    .join("");
}

/** A chunk with one candidate. */
export function chunk(parts: readonly object[] | undefined, rest: object = {}, top: object = {}): object {
  const content = parts === undefined ? {} : { content: { parts, role: "model" } };
  return { candidates: [{ ...content, index: 0, ...rest }], modelVersion: "gemini-up", responseId: "r-1", ...top };
}
