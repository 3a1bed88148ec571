/** Reads requests and streams in pieces, so that tests compare what came of them. */
import type { Event } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { tabledFacts } from "../../../src/models/facts.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import type { AnswerReport, OwnedFields, RequestFacts, WireRequest } from "../../../src/wire/wire.js";

export const FACTS: RequestFacts = {
  model: "claude-opus-5",
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
  const { model = "claude-opus-4-1" } = changes;
  const facts = tabledFacts(model);
  return { model, facts, outputTokensMax: undefined, stream: false, candidateCount: 1, ...changes };
}

export function request(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): WireRequest {
  return wire.readRequest({ wire: wire.name, body: Buffer.from(body), headers });
}

export interface Read {
  readonly events: Event[];
  readonly source: string;
  readonly error: GatewayError | undefined;
  readonly visible: boolean;
  readonly report: AnswerReport;
}

/** Decodes a stream that comes in reads cut at the places. */
export function readStream(
  bytes: Buffer,
  form: "events" | "source",
  cuts: readonly number[] = [],
  asked?: WireRequest,
): Read {
  const decoder = wire.decodeStream(FACTS, form, asked);
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
    visible: batches.some((batch) => batch.visible),
    report: decoder.report,
  };
}

/** Payloads as an upstream sends them: each with its name. */
export function sse(...payloads: readonly object[]): string {
  return payloads.map((payload) => `event: ${nameOf(payload)}\ndata: ${JSON.stringify(payload)}\n\n`).join("");
}

export function nameOf(payload: object): string {
  return String(Reflect.get(payload, "type"));
}

/** The names and payloads of a stream that we wrote; fails where a name and its payload differ. */
export function told(bytes: Buffer | string): Readonly<Record<string, unknown>>[] {
  return bytes
    .toString()
    .split("\n\n")
    .filter((text) => text !== "")
    .map((text) => {
      const [, name, data] = /^event: (\w+)\ndata: ([^\n]+)$/.exec(text) ?? [];
      const payload: Readonly<Record<string, unknown>> = JSON.parse(data ?? "null");
      if (payload["type"] !== name) throw new Error(`${name} holds ${data}`);
      return payload;
    });
}

/** Checks the grammar of a stream that ended well, as clients rely on it. Returns the types of its blocks. */
export function checkGrammar(bytes: Buffer | string): string[] {
  const all = told(bytes).filter(({ type }) => type !== "ping");
  // A count may be told before the end's own.
  const events = all.filter(({ type }, place) => type !== "message_delta" || all[place + 1]?.["type"] !== type);
  const types: string[] = [];
  let open: number | undefined;
  const problems: string[] = [];
  events.forEach((event, place) => {
    const { type } = event;
    const isFirst = place === 0;
    if ((type === "message_start") !== isFirst) problems.push(`${String(type)} at ${place}`);
    if ((type === "message_stop") !== (place === events.length - 1)) problems.push(`${String(type)} at ${place}`);
    if ((type === "message_delta") !== (place === events.length - 2)) problems.push(`${String(type)} at ${place}`);
    if (type === "message_start")
      for (const block of Object(event["message"]).content ?? []) types.push(String(block.type));
    if (type === "content_block_start") {
      if (open !== undefined || event["index"] !== types.length) problems.push(`start at ${place}`);
      open = types.length;
      types.push(String(Reflect.get(Object(event["content_block"]), "type")));
    } else if (String(type).startsWith("content_block") && event["index"] !== open) problems.push(`index at ${place}`);
    if (type === "content_block_stop") open = undefined;
    if (type === "message_delta" && (open !== undefined || event["usage"] === undefined)) problems.push("end");
  });
  if (problems.length > 0) throw new Error(`${problems.join("; ")} in\n${bytes.toString()}`);
  return types;
}
