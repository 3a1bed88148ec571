/** Reads requests and streams in pieces, so that tests compare what came of them. */
import type { Event } from "../../../src/api/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/openai-responses/index.js";
import type { AnswerReport, OwnedFields, RequestFacts, WireRequest } from "../../../src/wire/wire.js";

export const FACTS: RequestFacts = {
  model: "gpt-5.2",
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
  return { model: "gpt-5.2", outputTokensMax: undefined, stream: false, candidateCount: 1, ...changes };
}

export function request(body: string | Buffer | object): WireRequest {
  const bytes =
    typeof body === "string" || Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  return wire.readRequest({ wire: wire.name, body: bytes, headers: {} });
}

export interface Read {
  readonly events: Event[];
  /** What a client gets that takes the wire's own bytes: what came, and the end that was held back. */
  readonly source: string;
  readonly error: GatewayError | undefined;
  readonly report: AnswerReport;
}

/** Decodes a stream that comes in reads cut at the places. */
export function readStream(bytes: Buffer, form: "events" | "source", cuts: readonly number[] = []): Read {
  const decoder = wire.decodeStream(FACTS, form);
  const batches = [];
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    batches.push(decoder.push(Buffer.from(bytes.subarray(start, cut))));
    start = cut;
  }
  batches.push(decoder.end());
  const { report } = decoder;
  return {
    events: batches.flatMap((batch) => batch.events),
    source: Buffer.concat([...batches.map(({ source }) => source), report.ending ?? Buffer.alloc(0)]).toString(
      "latin1",
    ),
    error: batches.find((batch) => batch.error !== undefined)?.error,
    report,
  };
}

export type Told = Readonly<Record<string, unknown>>;

/** The payloads of a stream that we wrote; fails where a name and its payload differ, or the numbers have gaps. */
export function told(bytes: Buffer | string): Told[] {
  return bytes
    .toString()
    .split("\n\n")
    .filter((text) => text !== "" && !text.startsWith(":"))
    .map((text, place) => {
      const [, name, data] = /^event: ([\w.]+)\ndata: ([^\n]+)$/.exec(text) ?? [];
      const payload = JSON.parse(data ?? "null") as Told;
      if (payload["type"] !== name) throw new Error(`${name} holds ${data}`);
      if (payload["sequence_number"] !== place) throw new Error(`${name} is number ${place}: ${data}`);
      return payload;
    });
}

interface Open {
  readonly id: unknown;
  readonly item: Told;
  parts: number;
}

/** Checks the grammar of a stream that ended well, as clients rely on it. Returns the response that it ends with. */
export function checkGrammar(bytes: Buffer | string): Told {
  const events = told(bytes);
  const problems: string[] = [];
  const open = new Map<unknown, Open>();
  const done: unknown[] = [];
  let added = 0;
  const response = (place: number): Told => Object(events.at(place)?.["response"]);
  if (events[0]?.["type"] !== "response.created") problems.push("it does not begin with response.created");
  if (!/^response\.(completed|incomplete|failed)$/.test(String(events.at(-1)?.["type"]))) problems.push("no end");
  for (const event of events.slice(2, -1)) {
    const index = event["output_index"];
    const item: Told = Object(event["item"]);
    const type = String(event["type"]);
    const place = open.get(index);
    if (type === "response.output_item.added") {
      if (index !== added++) problems.push(`${type} at ${String(index)}`);
      open.set(index, { id: item["id"], item, parts: 0 });
      continue;
    }
    if (place === undefined) {
      problems.push(`${type} of no open item`);
      continue;
    }
    const id = type === "response.output_item.done" ? item["id"] : event["item_id"];
    if (id !== place.id) problems.push(`${type} names another item`);
    if (type === "response.content_part.added" && event["content_index"] !== place.parts++) problems.push(type);
    if (/output_text|refusal/.test(type) && event["content_index"] !== place.parts - 1) problems.push(type);
    if (type !== "response.output_item.done") continue;
    if (item["call_id"] !== place.item["call_id"] || item["type"] !== place.item["type"]) problems.push("changed");
    open.delete(index);
    done[Number(index)] = item;
  }
  if (open.size > 0) problems.push("items never ended");
  const last = response(-1);
  if (JSON.stringify(last["output"]) !== JSON.stringify(done)) problems.push("the response differs from its items");
  if (last["id"] !== response(0)["id"]) problems.push("the response changed its id");
  if (problems.length > 0) throw new Error(`${problems.join("; ")} in\n${bytes.toString()}`);
  return last;
}
