/** A wire and a format that no client speaks: they show that a new one needs nothing but itself. */
import type { Answer, Event } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Format } from "../../src/formats/format.js";
import { eventBytes } from "../../src/wire/events/writer.js";
import { memberTable } from "../../src/wire/request/members.js";
import { type RequestFacts, type SourceBody, StreamEncoder, type Wire, type WireRequest } from "../../src/wire/wire.js";
import { codeOf } from "../../src/wire/error/code.js";

const END = "THE END";

class ToyEncoder extends StreamEncoder {
  protected override tell(events: readonly Event[]): void {
    for (const { kind } of events)
      if (kind?.$case === "finish") this.out.data(END);
      else if (kind?.$case === "text") this.out.data(kind.value.text);
  }

  protected override tellFailure(error: GatewayError): void {
    this.out.data(`BROKEN ${codeOf(error)}`);
  }
}

function readRequest(source: SourceBody): WireRequest {
  const [model = "", ...words] = source.body.toString().split(" ");
  if (words.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "words" });
  const facts: RequestFacts = {
    model,
    stream: words.includes("slowly"),
    includeUsage: false,
    candidateCount: 1,
    outputTokensMax: undefined,
    textBytes: source.body.length,
    imageCount: 0,
    fileCount: 0,
    audioCount: 0,
  };
  return { facts, source, prompt: notForToys };
}

function notForToys(): never {
  throw new Error("no toy needs this");
}

export const toyWire: Wire = {
  name: "toy",
  members: memberTable({}),
  readRequest,
  encodeRequest: (request, owned) => Buffer.from(`${owned.model} ${request.source?.body.toString() ?? ""}`),
  decodeStream: notForToys,
  decodeAnswer: notForToys,
  encodeStream: () => new ToyEncoder(),
  encodeAnswer: (answer: Answer) =>
    Buffer.from(
      JSON.stringify({
        says: answer.candidates
          .flatMap((candidate) => candidate.message?.parts ?? [])
          .map((part) => (part.kind?.$case === "text" ? part.kind.value.text : ""))
          .join(""),
      }),
    ),
  decodeError: () => new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "toy" }),
  encodeError: (error) => ({
    status: error.reason === "ERROR_REASON_OVERLOADED" ? 529 : error.http,
    body: Buffer.from(JSON.stringify({ broken: codeOf(error), why: error.message })),
  }),
  heartbeat: Buffer.from(": tick\n\n"),
  streamEnd: eventBytes("", END),
};

export const toyFormat: Format = {
  name: "toy",
  wire: toyWire,
  routes: [{ method: "POST", path: "/toy/:box/say", kind: "generate" }],
  wireHeaders: (request) => ({ box: request.params["box"] ?? "", mood: request.headers["toy-mood"] ?? "calm" }),
  recognises: ({ headers }) => "toy-mood" in headers,
  encodeError: (error) => toyWire.encodeError(error),
  replyHeaders: (requestId) => ({ "toy-id": requestId }),
  credential: (request) => request.query["key"] ?? request.headers["toy-key"],
};
