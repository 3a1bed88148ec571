/** Threads whose work may take long: on Linux each has a lower priority than the event loop, and changes no other. */
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterAll, expect, test } from "vitest";
import { BACKGROUND_PRIORITY } from "../../src/api/background.js";
import { closeTokenCounter, countTokens } from "../../src/pricing/tokens.js";
import { createLongBodies } from "../../src/reading/long-bodies.js";

const longBodies = createLongBodies();
afterAll(async () => {
  await longBodies.close();
  await closeTokenCounter();
});

const TASKS = "/proc/self/task";
/** Of the fields behind the name, which may hold anything in its brackets. */
const NICE_FIELD = 16;

/** How nice each thread of this process is, by its id. */
function priorities(): Map<string, number> {
  const stats = readdirSync(TASKS).map((id): [string, number] => {
    const stat = readFileSync(`${TASKS}/${id}/stat`, "latin1");
    return [id, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[NICE_FIELD])];
  });
  return new Map(stats);
}

const LONG_BODY = Buffer.from(
  JSON.stringify({ model: "m", messages: [{ role: "user", content: "It is long. ".repeat(30_000) }] }),
);

test.each([
  {
    name: "that reads long bodies",
    work: () => longBodies.read({ wire: "openai-chat", body: LONG_BODY, headers: {} }, "generate", "acme"),
  },
  { name: "that counts tokens", work: () => countTokens("a few words", "gpt-5") },
])("the thread $name gives way to all others", async ({ work }) => {
  const before = priorities();
  await work();
  const after = priorities();
  for (const [id, priority] of before) if (after.has(id)) expect(after.get(id)).toBe(priority);
  const made = [...after].filter(([id]) => !before.has(id)).map(([, priority]) => priority);
  expect(made).toContain(BACKGROUND_PRIORITY);
  expect(getPriority()).toBeLessThan(BACKGROUND_PRIORITY);
});
