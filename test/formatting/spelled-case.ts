/** One case of the fuzz: a request and an answer, spelled once more, must come to the same. */
import { isDeepStrictEqual } from "node:util";
import { foldEvents } from "../../src/api/answer-fold.js";
import type { Event } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { StreamDecoder, Wire, WireRequest } from "../../src/wire/wire.js";
import { answers, type AskedBody, FACTS, requests, endpoints, type ToldAnswer } from "./corpus.js";
import { pick, type Random, randomOf } from "../support/random.js";
import { respell, respellStream } from "./respelling.js";

type Asked = { readonly request: WireRequest } | { readonly refusal: object };

/** Runs one case. Throws where a spelling makes a difference. */
export function runCase(seed: number): void {
  const random = randomOf(seed);
  const request = pick(random, requests);
  const answer = pick(random, answers);
  const once = read(request);
  const again = read({ wire: request.wire, body: respell(request.body, random) });
  if ("refusal" in once || "refusal" in again) return same(again, once, "what is refused");
  checkRequest(once.request, again.request, random);
  if (answer.stream !== undefined) checkStream(answer, request.wire, once.request, again.request, random);
  if (answer.whole !== undefined) checkWhole(answer, request.wire, once.request, again.request, random);
}

function read({ wire, body }: AskedBody): Asked {
  try {
    return { request: wire.readRequest({ wire: wire.name, body: Buffer.from(body), headers: {} }) };
  } catch (error) {
    return { refusal: refusalOf(error) };
  }
}

function refusalOf(error: unknown): object {
  if (!(error instanceof GatewayError)) throw error;
  return { reason: error.reason, param: error.param, problem: error.metadata["problem"] };
}

/** Each upstream is asked the same. */
function checkRequest(once: WireRequest, again: WireRequest, random: Random): void {
  const { family, endpoint } = pick(random, endpoints);
  const ask = (request: WireRequest): object => {
    const owned = { model: "m", outputTokensMax: 100, stream: true, candidateCount: request.facts.candidateCount };
    const dropped: string[] = [];
    try {
      if (request.source?.wire !== endpoint.wire.name) request.checkForeign?.("m", dropped);
      const body = endpoint.wire.encodeRequest(request, owned, endpoint.dialect, dropped);
      return { body: canonical(JSON.parse(body.toString())), dropped: dropped.toSorted() };
    } catch (error) {
      return refusalOf(error);
    }
  };
  same(ask(again), ask(once), `what ${family} is asked on ${endpoint.wire.name}`);
}

/** The client hears the same of a stream, each event on its lines; on one wire its bytes say the same. */
function checkStream(answer: ToldAnswer, client: Wire, once: WireRequest, again: WireRequest, random: Random): void {
  const { wire, stream = "" } = answer;
  const respelled = respellStream(stream, random);
  const heard = tellStream(wire, stream, client, once);
  const heardAgain = tellStream(wire, respelled, client, again);
  checkLines(heardAgain);
  // The same bytes, as mostly, need no reading.
  if (heardAgain !== heard)
    same(eventsOf(heardAgain), eventsOf(heard), `what a client of ${client.name} hears of a stream of ${wire.name}`);
  if (wire.name !== client.name) return;
  same(eventsOf(passStream(wire, respelled)), eventsOf(passStream(wire, stream)), `what passes on ${wire.name}`);
}

function tellStream(from: Wire, stream: string, client: Wire, asked: WireRequest): string {
  const decoder = from.decodeStream(FACTS, "events", asked);
  const encoder = client.encodeStream(FACTS, asked);
  const told = drain(decoder, stream).map(({ events }) => encoder.push(events));
  const { usage } = decoder.report;
  told.push(encoder.push([finish(usage)]));
  return Buffer.concat(told).toString();
}

function passStream(wire: Wire, stream: string): string {
  const decoder = wire.decodeStream(FACTS, "source");
  const passed = drain(decoder, stream).map(({ source }) => source);
  return Buffer.concat([...passed, decoder.report.ending ?? Buffer.alloc(0)]).toString();
}

function drain(decoder: StreamDecoder, stream: string): ReturnType<StreamDecoder["push"]>[] {
  const batches = [decoder.push(Buffer.from(stream)), decoder.end()];
  for (const { error } of batches) if (error !== undefined) throw error;
  return batches;
}

function finish(usage: StreamDecoder["report"]["usage"]): Event {
  return { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 0n } } };
}

function checkWhole(answer: ToldAnswer, client: Wire, once: WireRequest, again: WireRequest, random: Random): void {
  const { wire, whole = "" } = answer;
  const tell = (body: string, asked: WireRequest): unknown => {
    const decoded = wire.decodeAnswer(Buffer.from(body), asked);
    const folded = foldEvents([...decoded.events(), finish(decoded.report.usage)]);
    return canonical(JSON.parse(client.encodeAnswer(folded, () => asked).toString()));
  };
  const name = `what a client of ${client.name} hears of an answer of ${wire.name}`;
  same(tell(respell(whole, random), again), tell(whole, once), name);
}

/** Throws unless each event is, perhaps, its name, and its data on one line that no reader takes for two. */
function checkLines(stream: string): void {
  if (/[\r\u0085\u2028\u2029]/.test(stream)) throw new Error("a sign that some take for a line end");
  for (const event of stream.split("\n\n"))
    if (!/^((event: [a-z_.]+\n)?data: [^\n]*)?$/.test(event)) throw new Error(`an event of other lines: ${event}`);
}

/** The events of a stream as the rules of event streams have them, their data by its value. */
function eventsOf(stream: string): unknown[] {
  return stream
    .replaceAll(/\r\n|\r/g, "\n")
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const lines = event.split("\n");
      const of = (name: string): string[] =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ""));
      const data = of("data");
      if (data.length > 1) throw new Error(`data in ${data.length} lines: ${event}`);
      const [json = ""] = data;
      return { name: of("event").join(), data: json.trimStart().startsWith("{") ? canonical(JSON.parse(json)) : json };
    });
}

/** The value whatever the order of its members, and of those of JSON that a text is or ends with. */
function canonical(value: unknown): unknown {
  if (typeof value === "string") {
    const start = value.search(/[{[]/);
    if (start === -1) return value;
    try {
      return { before: value.slice(0, start), json: canonical(JSON.parse(value.slice(start))) };
    } catch {
      return value;
    }
  }
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, canonical(item)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function same(got: unknown, want: unknown, what: string): void {
  if (isDeepStrictEqual(got, want)) return;
  throw new Error(`${what} differs at ${difference(got, want)}`);
}

/** Where two values differ first, and how. */
function difference(got: unknown, want: unknown, path = "$"): string {
  const [one, other] = [got, want].map((value) => (typeof value === "object" && value !== null ? value : undefined));
  if (one === undefined || other === undefined) return `${path}: ${JSON.stringify(got)} is not ${JSON.stringify(want)}`;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  for (const key of keys) {
    const [here, there] = [Reflect.get(one, key), Reflect.get(other, key)] as unknown[];
    if (!isDeepStrictEqual(here, there)) return difference(here, there, `${path}.${key}`);
  }
  return path;
}
