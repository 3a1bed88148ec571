/** Framing of server-sent events, wherever the bytes are cut. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { SSE_EVENT_BYTES_MAX, SSE_LINE_BYTES_MAX, SseFramer } from "../../../src/wire/events/framer.js";

interface Framed {
  readonly data: (string | undefined)[];
  readonly raw: string;
}

/** Frames the bytes, cut at the places. Each read's memory is overwritten afterwards where it is not handed on. */
function frame(bytes: Buffer, cuts: readonly number[] = []): Framed {
  const data: (string | undefined)[] = [];
  let raw = "";
  const framer = new SseFramer((event, whole) => {
    data.push(event?.toString());
    raw += whole.toString("latin1");
  });
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    framer.push(Buffer.from(bytes.subarray(start, cut)));
    start = cut;
  }
  framer.end();
  return { data, raw };
}

describe("one stream", () => {
  test.each([
    { name: "one event", text: "data: a\n\n", want: ["a"] },
    { name: "no space behind the colon", text: "data:a\n\n", want: ["a"] },
    { name: "only one space is cut", text: "data:  a\n\n", want: [" a"] },
    { name: "several lines", text: "data: a\ndata: b\n\n", want: ["a\nb"] },
    { name: "no colon", text: "data\n\n", want: [""] },
    { name: "other fields", text: "event: x\nid: 1\nretry: 5\ndata: a\n\n", want: ["a"] },
    { name: "a field that begins alike", text: "database: x\ndata: a\n\n", want: ["a"] },
    { name: "a comment alone", text: ": ping\n\ndata: a\n\n", want: [undefined, "a"] },
    { name: "a comment in an event", text: ": x\ndata: a\n\n", want: ["a"] },
    { name: "an event without data", text: "event: ping\n\ndata: a\n\n", want: [undefined, "a"] },
    { name: "empty lines between", text: "\n\n\ndata: a\n\n\n\ndata: b\n\n", want: ["a", "b"] },
    { name: "a byte order mark", text: "\ufeffdata: a\n\n", want: ["a"] },
    { name: "CRLF", text: "data: a\r\n\r\ndata: b\r\ndata: c\r\n\r\n", want: ["a", "b\nc"] },
    { name: "CR", text: "data: a\r\rdata: b\rdata: c\r\r", want: ["a", "b\nc"] },
    { name: "all line ends mixed", text: "data: a\r\n\ndata: b\n\rdata: c\r\r\n", want: ["a", "b", "c"] },
    { name: "no empty line at the end", text: "data: a\n\ndata: b\n", want: ["a", "b"] },
    { name: "no line end at the end", text: "data: a\n\ndata: b", want: ["a", "b"] },
    { name: "CR at the end", text: "data: a\r", want: ["a"] },
    { name: "nothing", text: "", want: [] },
  ])("$name, cut anywhere", ({ text, want }) => {
    const bytes = Buffer.from(text);
    expect(frame(bytes).data).toEqual(want);
    for (let cut = 0; cut <= bytes.length; cut++) expect(frame(bytes, [cut]).data, `cut at ${cut}`).toEqual(want);
    expect(frame(bytes, Array.from(bytes.keys())).data).toEqual(want);
  });
});

test("any cuts give the same events, and all bytes of whole events", () => {
  const line = fc.constantFrom("data: {}", "data: é \\n", "data:", ": c", "event: e", "data: [DONE]", "");
  const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 30 });
  fc.assert(
    fc.property(stream, fc.array(fc.nat(400), { maxLength: 12 }), (lines, places) => {
      const text = `${lines.map(([content, end]) => content + end).join("")}data: last\n\n`;
      const bytes = Buffer.from(text);
      const cuts = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
      const whole = frame(bytes);
      const cut = frame(bytes, cuts);
      expect(cut.data).toEqual(whole.data);
      expect(whole.raw).toBe(bytes.toString("latin1"));
      expect(cut.raw).toBe(whole.raw);
    }),
  );
});

test("an event that one read holds is handed on without a copy", () => {
  const chunk = Buffer.from("data: a\n\ndata: b\n\nda");
  const raws: Buffer[] = [];
  const framer = new SseFramer((_data, raw) => raws.push(raw));
  framer.push(chunk);
  expect(raws.map((raw) => raw.buffer === chunk.buffer)).toEqual([true, true]);
});

test("an event cut at its end is ended, so that bytes may follow it", () => {
  for (const text of ["data: a", "data: a\n", "data: a\r", "data: a\r\n"]) {
    const { raw } = frame(Buffer.from(text));
    expect(frame(Buffer.from(`${raw}data: b\n\n`)).data, JSON.stringify(text)).toEqual(["a", "b"]);
  }
});

describe("bounds", () => {
  const line = Buffer.from(`data: ${"x".repeat(SSE_LINE_BYTES_MAX)}`);

  test.each([
    { name: "a line that never ends", reads: [line] },
    { name: "a line that ends", reads: [Buffer.concat([line, Buffer.from("\n\n")])] },
    {
      name: "an event of many lines",
      reads: Array.from({ length: 9 }, () => Buffer.from(`data: ${"x".repeat(SSE_EVENT_BYTES_MAX / 8)}\n`)),
    },
    {
      name: "an event of many lines in one read",
      reads: [Buffer.from(`${`data: ${"x".repeat(SSE_EVENT_BYTES_MAX / 8)}\n`.repeat(9)}\n`)],
    },
  ])("$name is too long", ({ reads }) => {
    const framer = new SseFramer(() => undefined);
    expect(() => reads.forEach((read) => framer.push(read))).toThrow("is too long");
  });

  test.each(["data:\n", "x\n", ":\r\n"])("an event of very many lines %j is refused", (line) => {
    const framer = new SseFramer(() => undefined);
    expect(() => framer.push(Buffer.from(line.repeat(20_000)))).toThrow("too many lines");
  });

  test("many events of some lines are read", () => {
    let events = 0;
    const framer = new SseFramer(() => (events += 1));
    framer.push(Buffer.from(`${"data: a\ndata: b\n"}\n`.repeat(20_000)));
    expect(events).toBe(20_000);
  });

  test("a megabyte byte by byte is read", () => {
    const text = `data: ${"x".repeat(SSE_LINE_BYTES_MAX - 10)}\n\n`;
    let length = 0;
    const framer = new SseFramer((data) => (length = data?.length ?? 0));
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) framer.push(bytes.subarray(at, at + 7));
    expect(length).toBe(SSE_LINE_BYTES_MAX - 10);
  });
});
