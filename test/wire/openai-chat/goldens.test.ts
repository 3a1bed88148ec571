/** Streams of our own and the steps that they mean: `<case>.sse` beside `<case>.events.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RequestFacts } from "../../../src/wire/wire.js";
import { FACTS } from "./bodies.js";
import { readStream } from "./reading.js";

const TESTDATA = new URL("../../../src/wire/openai-chat/testdata/", import.meta.url);
const ASKED: RequestFacts = { ...FACTS, includeUsage: true, candidateCount: 3 };

const names = readdirSync(TESTDATA)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => name.replace(".sse", ""));

describe.each(names)("stream %s", (name) => {
  const bytes = readFileSync(new URL(`${name}.sse`, TESTDATA));
  const want: unknown = JSON.parse(readFileSync(new URL(`${name}.events.json`, TESTDATA), "utf8"));

  test("means its steps, cut at every byte", () => {
    for (let cut = 0; cut < bytes.length; cut++) {
      const { events, report } = readStream(bytes, ASKED, "events", [cut]);
      const usage = Object.fromEntries(Object.entries(report.usage ?? {}).map(([key, value]) => [key, String(value)]));
      const got = { events, usage, text: report.text, complete: report.complete };
      // One comparison shows the difference; the others only have to be the same text.
      if (cut === 0) expect(JSON.parse(JSON.stringify(got))).toEqual(want);
      else if (JSON.stringify(got) !== JSON.stringify(want)) expect.unreachable(`cut at ${cut}`);
    }
  });

  test("passes byte for byte up to its end", () => {
    const text = bytes.toString("latin1");
    expect(readStream(bytes, ASKED, "source").source).toBe(text.slice(0, text.indexOf("data: [DONE]")));
  });
});
