/** The cells of the matrix as tests: which client asks which target for what, and what must come of it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import type { Client } from "./clients/client.js";
import { clients, firstOfFormats } from "./clients/index.js";
import { documentedRefusal } from "./expectation.js";
import { features } from "./features.js";
import type { Feature } from "./scenario.js";
import { Matrix } from "./matrix.js";
import { FEATURES_OF_FOLLOWERS, followers, type Target, targets } from "./targets.js";

export interface Pair {
  readonly client: Client;
  readonly target: Target;
  readonly asked: readonly Feature[];
}

const LONGEST_OF_FOLLOWERS = "tool loop of 3 turns";

/** The first client of each format asks all families, the others those with a column of their own. */
export const ALL_PAIRS: readonly Pair[] = clients.flatMap((client) =>
  (firstOfFormats.includes(client) ? [...targets, ...followers] : targets).map((target) => pairOf(client, target)),
);

/**
 * What a change meets at once: every format on every wire, every client on two, and every family. Each feature is among
 * it, but of families that follow a wire of another only the longest of their conversations.
 */
export const FIRST_PAIRS: readonly Pair[] = ALL_PAIRS.flatMap(({ client, target, asked }) => {
  if (!firstOfFormats.includes(client)) return targets.indexOf(target) < 2 ? [{ client, target, asked }] : [];
  if (isFirstOfWire(target)) return [{ client, target, asked }];
  if (client !== clients[0]) return [];
  return [{ client, target, asked: asked.filter(({ name }) => name === LONGEST_OF_FOLLOWERS) }];
});

/** What the client's package can ask for, of what the target is asked. */
function pairOf(client: Client, target: Target): Pair {
  const isMeant = (name: string): boolean => !followers.includes(target) || FEATURES_OF_FOLLOWERS.includes(name);
  const asked = features.filter(({ name }) => isMeant(name) && !client.cannotAsk.includes(name));
  return { client, target, asked };
}

function isFirstOfWire(target: Target): boolean {
  const wireOf = ({ family }: Target) => families.find(({ name }) => name === family)?.wire.name;
  return targets.find((other) => wireOf(other) === wireOf(target)) === target;
}

/** Runs the cells of the pairs over one gateway, with a test for each. The call returns the matrix once tests run. */
export function testMatrix(pairs: readonly Pair[]): () => Matrix {
  let matrix: Matrix;
  const cellsOf = ({ client, target, asked }: Pair) =>
    asked.flatMap((feature) =>
      [false, true].map((isStream) => ({ client, target, feature, isStream, name: feature.name })),
    );
  beforeAll(async () => {
    matrix = await Matrix.start();
    await matrix.runAll(pairs.flatMap(cellsOf));
  }, 600_000);
  afterAll(() => matrix.close());

  const named = pairs.map((pair) => ({ pair, name: pair.client.name, on: pair.target.family }));
  describe.each(named)("$name on $on", ({ pair }) => {
    test.each(cellsOf(pair))("$name, streamed: $isStream", async ({ client, target, feature, isStream }) => {
      const outcome = await matrix.outcome({ client, target, feature, isStream });
      const refused = documentedRefusal(client, target, feature);
      if (outcome.kind === "refused") expect(outcome.param).toBe(refused);
      else {
        expect(outcome.got).toEqual(outcome.wanted);
        expect(refused, "it is documented as refused").toBeUndefined();
      }
    });
  });

  test("every call was charged once, and nothing stays held", async () => {
    await expect.poll(async () => (await matrix.management.balance("acme")).heldNanos).toBe(0n);
    await matrix.management.verify();
  });
  return () => matrix;
}
