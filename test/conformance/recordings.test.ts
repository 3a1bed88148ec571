/** Recordings of real upstreams mean the same to clients of every format, whole and streamed, however they are cut. */
import { describe, expect, test } from "vitest";
import { bySweep } from "../support/sweep.js";
import { clientWires, meant, recordedWires, recordingsNote, toldAnswers, toldCut, toldStreams } from "./recorded.js";

const STREAMS = recordedWires.flatMap((from) => from.streams.map(({ name, body }) => ({ from, name, body })));
const ANSWERS = recordedWires.flatMap((from) => from.answers.map(({ name, body }) => ({ from, name, body })));

/** Streams up to here are cut in two at every byte; longer ones at a sample. */
const BYTES_OF_EVERY_CUT_MAX = bySweep({ short: 0, long: 5_000, all: 5_000 });
const SAMPLED_EVENTS = bySweep({ short: 4, long: 24, all: 24 });
const SAMPLED_BYTES = bySweep({ short: 4, long: 24, all: 24 });

/** Where a long stream is cut in two: around the ends of events, evenly spread, and at bytes evenly spread. */
function sampledCuts(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf("\n\n"); at !== -1; at = bytes.indexOf("\n\n", at + 2)) ends.push(at);
  const every = Math.max(1, Math.floor(ends.length / SAMPLED_EVENTS));
  const around = ends.filter((_, place) => place % every === 0).flatMap((end) => [end, end + 1, end + 2]);
  const spread = Array.from({ length: SAMPLED_BYTES }, (_, place) =>
    Math.floor(((place + 0.618) / SAMPLED_BYTES) * bytes.length),
  );
  return [...around, ...spread].filter((cut) => cut > 0 && cut < bytes.length);
}

function everyByte(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length }, (_, place) => place);
}

/** Expects every client to hear what was meant. Compared once for each text, since most cuts tell the same. */
class Listener {
  private readonly heard = clientWires.map(() => new Set<string>());

  constructor(private readonly want: object) {}

  hear(told: readonly string[], place: string): void {
    told.forEach((text, client) => {
      const known = this.heard[client];
      if (known?.has(text) !== false) return;
      known.add(text);
      const { wire, reader } = clientWires[client]!;
      expect(meant(reader.stream(text)), `${wire.name}, ${place}`).toEqual(this.want);
    });
  }
}

describe.runIf(STREAMS.length > 0)(recordingsNote, () => {
  test("there are streams and answers of every wire", () => {
    for (const { streams, answers } of recordedWires) expect(streams.length * answers.length).toBeGreaterThan(0);
  });

  describe.each(STREAMS)("stream $name", ({ from, body }) => {
    const bytes = Buffer.from(body);
    const listener = new Listener(meant(from.reader.stream(body)));

    test("in one read", () => listener.hear(toldStreams(from.wire, bytes, []), "in one read"));

    test("in reads of one byte, so cut at every byte at once", () =>
      listener.hear(toldStreams(from.wire, bytes, everyByte(bytes)), "byte by byte"));

    const cuts = bytes.length <= BYTES_OF_EVERY_CUT_MAX ? everyByte(bytes).slice(1) : sampledCuts(bytes);
    const where = bytes.length <= BYTES_OF_EVERY_CUT_MAX ? "at every byte" : `at ${cuts.length} of its bytes`;
    test(`in two reads, cut ${where}`, () => {
      for (const cut of cuts) listener.hear(toldStreams(from.wire, bytes, [cut]), `cut at ${cut}`);
    });
  });

  describe.each(STREAMS)("stream $name", ({ from, body }) => {
    test("cut short, it never looks whole to any client", () => {
      const bytes = Buffer.from(body);
      const { text, thinking, calls, end } = meant(from.reader.stream(body));
      let cutCount = 0;
      for (const cut of [0, ...sampledCuts(bytes)]) {
        const part = bytes.subarray(0, cut);
        const told = toldCut(from.wire, part);
        if (told === undefined) {
          // Only signs of the end, or the usage, did not come.
          toldStreams(from.wire, part, []).forEach((whole, client) => {
            const { wire, reader } = clientWires[client]!;
            expect(meant(reader.stream(whole)), wire.name).toMatchObject({ text, thinking, calls, end });
          });
          continue;
        }
        cutCount++;
        told.forEach((broken, client) => {
          const { wire, reader } = clientWires[client]!;
          expect(() => reader.stream(broken), `${wire.name}, cut at ${cut}`).toThrow();
        });
      }
      expect(cutCount).toBeGreaterThan(1);
    });
  });

  test.each(ANSWERS)("answer $name", ({ from, body }) => {
    const want = meant(from.reader.answer(body));
    toldAnswers(from.wire, body).forEach((text, client) => {
      const { wire, reader } = clientWires[client]!;
      expect(meant(reader.answer(text)), wire.name).toEqual(want);
    });
  });
});
