/** Log lines on their way to a file: many in one write, and none waits long. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GatheredLines } from "../../src/observe/log.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function gather(): { lines: GatheredLines; written: string[] } {
  const written: string[] = [];
  return { lines: new GatheredLines({ write: (text) => written.push(text) }), written };
}

test("lines wait for more, but no longer than a tenth of a second", () => {
  const { lines, written } = gather();
  lines.write("a\n");
  lines.write("b\n");
  vi.advanceTimersByTime(99);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(written).toEqual(["a\nb\n"]);
  lines.write("c\n");
  vi.advanceTimersByTime(100);
  expect(written).toEqual(["a\nb\n", "c\n"]);
});

test("so many that they fill a write leave at once, and leave nothing behind", () => {
  const { lines, written } = gather();
  const line = `${"x".repeat(1_023)}\n`;
  for (let count = 0; count < 64; count++) lines.write(line);
  expect(written).toEqual([line.repeat(64)]);
  vi.advanceTimersByTime(1_000);
  expect(written).toHaveLength(1);
});

test("what is there is handed on when asked, once", () => {
  const { lines, written } = gather();
  lines.write("a\n");
  lines.passOn();
  lines.passOn();
  expect(written).toEqual(["a\n"]);
});
