/** The nightly files of a whole process: written at its start for a day that is over, and once. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../support/gateway-process.js";

test("files of the day that is over are there soon after the start, and another start leaves them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-nightly-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const settings = `exports: { directory: "${directory}", formats: [csv, jsonl, focus] }\n`;
  const first = await startGateway({ settings });
  const written = (): string[] =>
    readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .toSorted();
  await expect.poll(() => written().length).toBe(5);
  const names = written();
  const [day = ""] = /\d{4}-\d\d-\d\d/.exec(names[0] ?? "") ?? [];
  expect(Date.parse(day)).toBeLessThan(Date.now() - 86_400_000 + 1);
  expect(names).toEqual(
    ["entries-D.csv", "entries-D.jsonl", "usage-D.csv", "usage-D.jsonl", "usage-focus-D.csv"].map((name) =>
      name.replace("D", day),
    ),
  );
  expect(readFileSync(join(directory, `usage-${day}.csv`), "utf8")).toMatch(/^day,account/);
  await first.stop();
  for (const name of names) rmSync(join(directory, name));
  const second = await startGateway({ settings, dataDirectory: first.dataDirectory });
  onTestFinished(() => rmSync(first.dataDirectory, { recursive: true, force: true }));
  await expect.poll(() => second.log.some((line) => line.includes('"ready"'))).toBe(true);
  await second.stop();
  // It was written once: whoever takes a file away wanted it gone.
  expect(written()).toEqual([]);
});
