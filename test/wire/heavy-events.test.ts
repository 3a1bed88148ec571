/** Streams that are as costly to read as their size allows: no share of one makes too many values for the loop. */
import { afterEach, expect, test } from "vitest";
import type { GatewayError } from "../../src/base/errors.js";
import type { AnswerForm, RequestFacts } from "../../src/wire/wire.js";
import { WIRES } from "../gateway/wires.js";
import { bySweep } from "../support/sweep.js";
import { WORST_ANSWERS, type WorstAnswer } from "../bench/worst-answers.mjs";

const FACTS: RequestFacts = {
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
/** What one answer may have read in a turn. */
const SHARE_BYTES = 16_384;
const VALUES_MAX = 70_000;
/** Of none was a later share dearer than those of its first MiB; events of 4 MiB end in a long run alone. */
const STREAM_BYTES = 1024 * 1024 * bySweep({ short: 1, long: 5, all: 5 });
/** Each share of a flood is like its first. */
const FLOOD_BYTES = bySweep({ short: 8 * SHARE_BYTES, long: STREAM_BYTES, all: STREAM_BYTES });

/** As much as is read: of what goes on for longer the beginning, and an event whole. */
function beginningOf({ name, body }: WorstAnswer): Buffer {
  if (name.includes("one event")) return body().subarray(0, STREAM_BYTES);
  const bytes = name.includes("flood") ? FLOOD_BYTES : STREAM_BYTES;
  return body(2 * bytes).subarray(0, bytes);
}

const parse = JSON.parse;
afterEach(() => {
  JSON.parse = parse;
});

function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let sum = 1;
  for (const item of Object.values(value)) sum += valuesOf(item);
  return sum;
}

const STREAMS = WORST_ANSWERS.filter(({ stream, name }) => stream && !name.includes("application/json"));
const FORMS: readonly AnswerForm[] = ["source", "events", "fitted"];

test.each(STREAMS)("$name", (answer) => {
  const { wire } = answer;
  const found = Object.values(WIRES).find(({ name }) => name === wire);
  if (found === undefined) throw new Error(wire);
  const bytes = beginningOf(answer);
  let values = 0;
  // A spy would keep each of half a million calls.
  JSON.parse = (text: string): unknown => {
    const value: unknown = parse(text);
    values += valuesOf(value);
    return value;
  };
  for (const form of FORMS) {
    const decoder = found.decodeStream(FACTS, form);
    let most = 0;
    let error: GatewayError | undefined;
    for (let at = 0; at < bytes.length && error === undefined; at += SHARE_BYTES) {
      values = 0;
      error = decoder.push(bytes.subarray(at, at + SHARE_BYTES)).error;
      most = Math.max(most, values);
    }
    expect(most).toBeLessThan(VALUES_MAX);
    if (error !== undefined) expect(error.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
  }
});
