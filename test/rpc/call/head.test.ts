/** The head of an answer: it carries the id of its own request, whatever else it brings; and where the rest goes. */
import { expect, test } from "vitest";
import type { CallMetadata } from "../../../src/api/channel.js";
import { AnswerSink, NamedHead } from "../../../src/rpc/call/head.js";
import { KeepingSink } from "../edges.js";

const REPLAYED = { "x-request-id": "req_before", "x-tollgate-upstream": "openai" };
const OWN = { "x-request-id": "req_now", "x-tollgate-upstream": "openai" };

test("of a unary call", () => {
  const head = new NamedHead("req_now");
  head.head(REPLAYED);
  expect(head.take()).toEqual(OWN);
});

test("of a stream", () => {
  const heads: CallMetadata[] = [];
  const sink = new AnswerSink<string>("req_now", {
    head: (metadata) => void heads.push(metadata),
    data: () => true,
    onDrain: () => undefined,
  });
  sink.head(REPLAYED);
  expect(heads).toEqual([OWN]);
});

test("a replay says more in it, but not another id", () => {
  const client = new KeepingSink<string>();
  const sink = new AnswerSink<string>("req_now", client);
  sink.addHead({ "x-tollgate-resumable": "1" });
  sink.addHead({ "idempotent-replayed": "true", "x-request-id": "req_before" });
  expect(sink.begun).toBe(false);
  sink.data("first");
  expect(sink.begun).toBe(true);
  const want = { "x-tollgate-resumable": "1", "idempotent-replayed": "true", "x-request-id": "req_now" };
  expect(client.headMetadata).toEqual(want);
});

test("an answer that is redirected goes on behind the end of its call, as it came", () => {
  const [client, tape] = [new KeepingSink<string>(), new KeepingSink<string>(1)];
  const sink = new AnswerSink<string>("req_now", client);
  let drains = 0;
  sink.onDrain(() => drains++);
  sink.addHead({ "x-tollgate-resumable": "1" });
  sink.redirect(tape);
  sink.close();
  sink.head(REPLAYED);
  expect(sink.data("first")).toBe(false);
  tape.drain(2);
  expect(drains).toBe(1);
  expect(sink.data("second")).toBe(true);
  expect(tape.headMetadata).toEqual(REPLAYED);
  expect(tape.messages).toEqual(["first", "second"]);
  expect(client.steps).toEqual([]);
});

test("nothing goes out behind the end of a call, and nobody waits for it", () => {
  const client = new KeepingSink<string>();
  const sink = new AnswerSink<string>("req_now", client);
  sink.close();
  sink.head(REPLAYED);
  expect(sink.data("late")).toBe(true);
  expect(client.steps).toEqual([]);
});
