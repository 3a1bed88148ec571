/** Steps of a stream that is taken as one answer: a long one is written by a thread, as the loop itself would. */
import { afterAll, expect, test } from "vitest";
import { type Event, FinishReason } from "../../src/api/index.js";
import { foldEvents } from "../../src/api/answer-fold.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { clientWires } from "../../src/reading/readers.js";
import { Deadline, REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import { GatheredSteps } from "../../src/routing/gathered-steps.js";
import { CREATED, FINISH, GENERATING_WIRES, requestOf, sourceOf } from "./wire-requests.js";

const reader = createLongAnswers();
afterAll(() => reader.close());

/** As a flood of small pieces comes: half a megabyte of text. */
const PIECES = 30_000;

function steps(hasCall: boolean): Event[] {
  const call = { candidate: 0, index: 0, id: "call_1", name: "f", custom: false, signature: undefined };
  const pieces = Array.from({ length: PIECES }, (_, at): Event => ({
    kind: { $case: "text", value: { candidate: 0, text: `w\u00f6rd ${at} ` } },
  }));
  const calls: Event[] = [
    { kind: { $case: "toolCallStart", value: call } },
    { kind: { $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: '{"a":' } } },
    { kind: { $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: "1}" } } },
  ];
  const reason = hasCall ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END;
  const start = { id: "answer-1", model: "m", createTime: CREATED };
  return [
    { kind: { $case: "start", value: { ...start, inputTokens: undefined } } } as Event,
    ...pieces,
    ...(hasCall ? calls : []),
    { kind: { $case: "candidateEnd", value: { candidate: 0, reason, stopString: undefined } } },
  ];
}

test.each(GENERATING_WIRES)("are told to a client of %s as the loop would tell them", async (wire) => {
  const events = steps(wire !== "openai-completions");
  const request = requestOf(sourceOf(wire));
  const gathered = new GatheredSteps({
    request,
    acceptWire: wire,
    accountId: "acme",
    deadline: new Deadline(performance.now(), Infinity, REQUEST_TIMEOUTS),
    long: { reader, memory: undefined as never },
  });
  for (let at = 0; at < events.length; at += 7) gathered.add(events.slice(at, at + 7));
  const batch = await gathered.whole();
  expect(batch.events).toEqual([]);
  const written = await batch.long?.write(wire, FINISH, CREATED);
  const answer = foldEvents([...events, { kind: { $case: "finish", value: FINISH } }]);
  const expected = clientWires.get(wire)?.encodeAnswer(answer, () => request);
  expect(written?.length).toBeGreaterThan(300_000);
  expect(written?.toString()).toBe(expected?.toString());
});
