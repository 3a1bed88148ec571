/** Writing an answer costs as its size does, not as the square of it: every kind of part, for clients of every wire. */
import { expect, test } from "vitest";
import { type Event, FinishReason, type Part } from "../../src/api/index.js";
import { foldEvents } from "../../src/api/answer-fold.js";
import { clientWires } from "../../src/reading/readers.js";
import { bySweep } from "../support/sweep.js";
import { CREATED, FINISH, GENERATING_WIRES, requestOf, sourceOf } from "./wire-requests.js";

/** From the small size to the large one, and from that to the largest. */
const LARGE = 16;
const LARGEST = 4 * LARGE;
/** What grows as the size does may be taken for more than that, and is then looked at in the largest size. */
const DOUBTFUL = 1.5 * LARGE;
/** Of four times the size: twice what grows as the size does, and half of what grows as its square. */
const COST_GROWTH_MAX = 8;
/** What the clock of the processor and the collection of garbage add to what is short. */
const LEAST_MS = 1;

/** Processor time of this process: what else runs on the machine adds nothing to it. */
function costMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * By how much the cost grows where the size grows fourfold; 0 where nothing is doubtful. A collection of garbage may
 * fall into one try, not into each.
 */
function growthOf(work: (times: number) => void): number {
  const small = Math.max(
    LEAST_MS,
    costMs(() => work(1)),
  );
  let large = costMs(() => work(LARGE));
  if (large < DOUBTFUL * small) return 0;
  let largest = Infinity;
  for (let tries = 0; tries < 4 && largest > COST_GROWTH_MAX * large; tries++) {
    largest = Math.min(
      largest,
      costMs(() => work(LARGEST)),
    );
    large = Math.max(
      large,
      costMs(() => work(LARGE)),
    );
  }
  return largest / large;
}

const finish: Event = { kind: { $case: "finish", value: FINISH } };

function write(client: string, events: readonly Event[]): void {
  const request = requestOf(sourceOf(client));
  const answer = foldEvents([...events, finish]);
  answer.createTime ??= CREATED;
  clientWires.get(client)?.encodeAnswer(answer, () => request);
}

const inline = {
  $case: "inline" as const,
  value: { mediaType: "image/png", data: Buffer.from("iVBORw0KGgo=", "base64") },
};
const citationsJson = '[{"type":"url_citation","url_citation":{"url":"u","title":"t","start_index":0,"end_index":1}}]';
const call = { name: "f", arguments: '{"a":1}', custom: false, signature: "s" };

/** Of every kind of part, what the typed form can say of it. */
const PARTS: Readonly<Record<string, (at: number) => NonNullable<Part["kind"]>>> = {
  text: () => ({ $case: "text", value: { text: "a", citationsJson: undefined } }),
  "text with citations": () => ({ $case: "text", value: { text: "a", citationsJson } }),
  refusal: () => ({ $case: "refusal", value: { text: "a" } }),
  thinking: () => ({ $case: "thinking", value: { text: "a", signature: undefined } }),
  "thinking with a proof": () => ({ $case: "thinking", value: { text: "a", signature: "s" } }),
  "thinking that is sealed": () => ({ $case: "redactedThinking", value: { data: "a" } }),
  call: (at) => ({ $case: "toolCall", value: { ...call, id: `c${at}` } }),
  "call in free text": (at) => ({ $case: "toolCall", value: { ...call, id: `c${at}`, custom: true } }),
  picture: () => ({ $case: "image", value: { source: inline, detail: "" } }),
  "picture by its address": () => ({
    $case: "image",
    value: { source: { $case: "url", value: "https://a/b" }, detail: "" },
  }),
  file: () => ({ $case: "file", value: { source: inline, name: "", citations: false, context: "", title: "" } }),
  sound: () => ({ $case: "audio", value: { source: inline, transcript: "a" } }),
  ...Object.fromEntries(
    [...clientWires.keys()].map((wire) => [
      `part of ${wire} alone`,
      () => ({ $case: "opaque", value: { wire, json: '{"type":"x"}' } }),
    ]),
  ),
};

const COUNT = bySweep({ short: 400, long: 1_000, all: 1_000 });
const TYPED = Object.entries(PARTS).flatMap(([kind, make]) =>
  GENERATING_WIRES.map((client) => ({ kind, make, client })),
);

test.each(TYPED)("very many parts of one kind, $kind, to $client", ({ make, client }) => {
  const growth = growthOf((times) => {
    const parts = Array.from({ length: times * COUNT }, (_, at): Event => {
      const part = { kind: make(at), cacheMark: undefined };
      return { kind: { $case: "part", value: { candidate: 0, part } } };
    });
    const reason = FinishReason.FINISH_REASON_END;
    write(client, [
      ...parts,
      { kind: { $case: "candidateEnd", value: { candidate: 0, reason, stopString: undefined } } },
    ]);
  });
  expect(growth).toBeLessThan(COST_GROWTH_MAX);
});
