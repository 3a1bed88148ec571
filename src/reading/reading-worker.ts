/** The entry of the thread that reads long bodies and writes them for upstreams, one at a time. */
import assert from "node:assert";
import { parentPort } from "node:worker_threads";
import { asBuffer } from "../base/bytes/bytes.js";
import { copyShared, emptySharedBytes } from "../base/bytes/shared-bytes.js";
import { GatewayError } from "../base/errors.js";
import { families } from "../families/index.js";
import { endpointFor } from "../families/family.js";
import { readableInput } from "../pricing/request-text.js";
import { TargetPermits } from "../routing/permits.js";
import { bodyFor, countedRequest } from "../routing/upstream-request.js";
import { namedItems } from "../wire/openai-responses/index.js";
import { JsonCursor } from "../wire/json/cursor.js";
import { readMembers } from "../wire/json/splice.js";
import { openingOf } from "../wire/request/opening.js";
import { outlined } from "../wire/request/outline.js";
import { toldCallIds } from "../wire/request/told-calls.js";
import type { BodyOrder, WireRequest } from "../wire/wire.js";
import { readAnswer, tellAnswer, tellGathered } from "./answers.js";
import type { Answer, ReadingRequest, ReadBody, SharedSource, TextInBytes, WrittenBody } from "./protocol.js";
import { readers, typedOutline } from "./readers.js";

/** Shorter ones are copied by the message. */
const COPIED_BYTES_MAX = 262_144;

function requestOf({ wire, body, headers, purpose }: SharedSource): WireRequest {
  const reader = readers.get(wire);
  assert(reader !== undefined, `no wire is called ${wire}`);
  return reader.readRequest({ wire, body: asBuffer(body), headers }, purpose === "count" ? "count" : "generate");
}

function read(request: WireRequest, asked: SharedSource): ReadBody {
  const { facts, source, embedding, members } = request;
  const known = embedding && { encoding: embedding.encoding, dimensions: embedding.dimensions };
  if (source === undefined) {
    const outline = shared(typedOutline({ ...asked, body: asBuffer(asked.body) }));
    return { facts, outline, outlineMembers: [], opening: "", embedding: known };
  }
  const outline = outlined(source).body;
  const outlineMembers = readMembers(new JsonCursor(outline));
  const opening = members === undefined ? "" : openingOf(source.body, members);
  return { facts, outline: shared(outline), outlineMembers, opening, embedding: known };
}

function write(request: WireRequest, order: BodyOrder): WrittenBody {
  const family = families.find(({ name }) => name === order.family);
  assert(family !== undefined, `no family is called ${order.family}`);
  const target = { model: order.model, facts: order.facts };
  const dropped: string[] = [];
  const unknown: string[] = [];
  const permits = new TargetPermits(order.terms, (name) => void unknown.push(name));
  if (order.owned === undefined) {
    const counted = countedRequest(request, family, order.model, permits);
    assert(family.counter !== undefined, `${order.family} counts no tokens`);
    const body = shared(family.counter.encode(counted, order.model, order.facts));
    return { body, dropped, unknown, callIds: [] };
  }
  const endpoint = endpointFor(family, request, order.kind);
  const question = { request, target, endpoint, owned: order.owned, strict: order.strict, permits };
  const body = shared(bodyFor(question, dropped));
  const isOwn = endpoint.wire.name === request.source?.wire;
  // An exact answer of the same wire is handed on as it comes; without tools any calls nothing.
  const isHandedOn = isOwn && (endpoint.answers !== "fitted" || (request.facts.toolCount ?? 0) === 0);
  const callIds = isHandedOn ? [] : toldCallIds(request);
  return { body, dropped, unknown, callIds };
}

function text(request: WireRequest): TextInBytes | undefined {
  const readable = readableInput(request);
  if (readable === undefined) return undefined;
  const { messages, tokens } = readable;
  const bytes = emptySharedBytes(readable.text.length * 2);
  bytes.write(readable.text, "utf16le");
  return { messages, tokens, bytes };
}

function answerOf({ source, task }: ReadingRequest): Answer {
  try {
    if (task.kind === "outline")
      return { kind: "outline", value: shared(outlined({ ...source, body: asBuffer(source.body) }).body) };
    if (task.kind === "names") return { kind: "names", value: namedItems(asBuffer(source.body)) };
    if (task.kind === "answer") {
      const value = readAnswer(asBuffer(source.body), task.order);
      return { kind: "answer", value: { ...value, source: value.source && shared(value.source) } };
    }
    if (task.kind === "tell")
      return { kind: "told", value: shared(tellAnswer(asBuffer(source.body), task.order, task.to)) };
    if (task.kind === "fold")
      return { kind: "told", value: shared(tellGathered(asBuffer(source.body), task.order, task.to)) };
    const request = requestOf(source);
    switch (task.kind) {
      case "read":
        return { kind: "read", value: read(request, source) };
      case "write":
        return { kind: "written", value: write(request, task.order) };
      case "text":
        return { kind: "text", value: text(request) };
    }
  } catch (error) {
    if (error instanceof GatewayError)
      return { kind: "refused", reason: error.reason, metadata: { ...error.metadata } };
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Long bytes in memory that threads share, which V8 counts for none of them. As memory of one thread, each made
 * the event loop collect its whole heap.
 */
function shared(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer || bytes.byteLength <= COPIED_BYTES_MAX) return bytes;
  const copy = emptySharedBytes(bytes.byteLength);
  copyShared(asBuffer(bytes), copy, 0);
  return copy;
}

assert(parentPort !== null, "this file runs in a thread of its own");
const port = parentPort;
port.on("message", (question: ReadingRequest) => {
  const answer = answerOf(question);
  // Copied, not moved: since Node 22 some memory of buffers refuses to be moved, and what is long is shared.
  port.postMessage(answer, []);
});
