/** The head of an answer: it carries the id of its own request, whatever else it brings. */
import { expect, test } from "vitest";
import type { CallMetadata } from "../../src/api/channel.js";
import { CallSink, NamedHead } from "../../src/rpc/head.js";

const REPLAYED = { "x-request-id": "req_before", "x-tollgate-upstream": "openai" };
const OWN = { "x-request-id": "req_now", "x-tollgate-upstream": "openai" };

test("of a unary call", () => {
  const head = new NamedHead("req_now");
  head.head(REPLAYED);
  expect(head.take()).toEqual(OWN);
});

test("of a stream", () => {
  const heads: CallMetadata[] = [];
  const sink = new CallSink<string>("req_now", {
    head: (metadata) => void heads.push(metadata),
    data: () => true,
    onDrain: () => undefined,
  });
  sink.head(REPLAYED);
  expect(heads).toEqual([OWN]);
});
