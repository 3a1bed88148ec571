/** Every client format on every model family: each feature, whole and streamed, through the official packages. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "./clients/client.js";
import { clients, firstOfFormats } from "./clients/index.js";
import { conformancePage, WRITE_VARIABLE } from "./document.js";
import { documentedRefusal } from "./expectation.js";
import { features } from "./features.js";
import { Matrix } from "./matrix.js";
import { FEATURES_OF_FOLLOWERS, followers, type Target, targets } from "./targets.js";

let matrix: Matrix;
beforeAll(async () => {
  matrix = await Matrix.start();
  await matrix.runAll(
    PAIRS.flatMap(({ client, target }) =>
      cellsOf(client, target).map(({ feature, isStream }) => ({ client, target, feature, isStream })),
    ),
  );
}, 600_000);
afterAll(() => matrix.close());

const PAIRS = clients.flatMap((client) =>
  targetsOf(client).map((target) => ({ client, target, name: client.name, on: target.family })),
);
const CELLS = features.flatMap((feature) =>
  [false, true].map((isStream) => ({ feature, isStream, name: feature.name })),
);

/** The first client of each format asks all families, the others those with a column of their own. */
function targetsOf(client: Client): readonly Target[] {
  return firstOfFormats.includes(client) ? [...targets, ...followers] : targets;
}

/** What the client's package can ask for, of what the target is asked. */
function cellsOf(client: Client, target: Target): typeof CELLS {
  const isFollower = followers.includes(target);
  const isMeant = (name: string): boolean => !isFollower || FEATURES_OF_FOLLOWERS.includes(name);
  return CELLS.filter(({ name }) => isMeant(name) && !client.cannotAsk.includes(name));
}

describe.each(PAIRS)("$name on $on", ({ client, target }) => {
  test.each(cellsOf(client, target))("$name, streamed: $isStream", async ({ feature, isStream }) => {
    const outcome = await matrix.outcome({ client, target, feature, isStream });
    const refused = documentedRefusal(client, target, feature);
    if (outcome.kind === "refused") expect(outcome.param).toBe(refused);
    else {
      expect(outcome.got).toEqual(outcome.wanted);
      expect(refused, "it is documented as refused").toBeUndefined();
    }
  });
});

test("the page says what the run found", async () => {
  const page = await conformancePage(matrix);
  const path = new URL("../../docs/conformance.md", import.meta.url);
  if (process.env[WRITE_VARIABLE] !== undefined) writeFileSync(path, page);
  expect(readFileSync(path, "utf8")).toBe(page);
});

test("every call was charged once, and nothing stays held", async () => {
  await expect.poll(async () => (await matrix.management.balance("acme")).heldNanos).toBe(0n);
  await matrix.management.verify();
});
