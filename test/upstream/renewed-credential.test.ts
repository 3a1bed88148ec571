/** Credentials are renewed before their end, one request to the source at a time, and replaced when refused. */
import { describe, expect, test, vi } from "vitest";
import { RenewedCredential, sourceFailure } from "../../src/upstream/renewed-credential.js";

interface World {
  nowMs: number;
  issued: number;
  fails: boolean;
  lifeMs: number;
  readonly credential: RenewedCredential<string>;
}

function createWorld(random = 0): World {
  const world: World = {
    nowMs: 0,
    issued: 0,
    fails: false,
    lifeMs: 3_600_000,
    credential: new RenewedCredential({
      issue: async () => {
        await Promise.resolve();
        if (world.fails) throw sourceFailure("The source", "down");
        world.issued += 1;
        return { value: `token-${world.issued}`, lifeMs: world.lifeMs };
      },
      monotonicMs: () => world.nowMs,
      random: () => random,
    }),
  };
  return world;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a renewal", () => {
  test.each([
    { lifeMs: 3_600_000, random: 0, atMs: 3_300_000 },
    { lifeMs: 3_600_000, random: 1, atMs: 3_150_000 },
    { lifeMs: 100_000, random: 0, atMs: 90_000 },
  ])("of $lifeMs ms begins at $atMs ms", async ({ lifeMs, random, atMs }) => {
    const world = createWorld(random);
    world.lifeMs = lifeMs;
    await world.credential.value();
    world.nowMs = atMs - 1;
    expect(world.credential.value()).toBe("token-1");
    await settle();
    expect(world.issued).toBe(1);
    world.nowMs = atMs;
    for (let request = 0; request < 100; request++) expect(world.credential.value()).toBe("token-1");
    await settle();
    expect(world.credential.value()).toBe("token-2");
    expect(world.issued).toBe(2);
  });

  test("that fails leaves the credential in use, and is tried again after a pause", async () => {
    const world = createWorld();
    await world.credential.value();
    world.fails = true;
    world.nowMs = 3_400_000;
    expect(world.credential.value()).toBe("token-1");
    await settle();
    world.fails = false;
    expect(world.credential.value()).toBe("token-1");
    await settle();
    expect(world.issued).toBe(1);
    world.nowMs += 5_000;
    expect(world.credential.value()).toBe("token-1");
    await settle();
    expect(world.credential.value()).toBe("token-2");
  });

  test("is waited for by all requests once nothing holds any more", async () => {
    const world = createWorld();
    await world.credential.value();
    world.nowMs = 3_600_000;
    const waiting = await Promise.all([world.credential.value(), world.credential.value()]);
    expect(waiting).toEqual(["token-2", "token-2"]);
    world.nowMs *= 2;
    world.fails = true;
    await expect(world.credential.value()).rejects.toThrow("The source issued no credential: down");
  });
});

describe("a refused credential", () => {
  test("is replaced once for all requests that used it", async () => {
    const world = createWorld();
    await world.credential.value();
    const replaced = [world.credential.replace("token-1"), world.credential.replace("token-1")];
    expect(await Promise.all(replaced)).toEqual([true, true]);
    expect(await world.credential.replace("token-1")).toBe(true);
    expect(world.issued).toBe(2);
  });

  test("makes the gateway ask the source at most once in 30 seconds", async () => {
    const world = createWorld();
    await world.credential.value();
    expect(await world.credential.replace("token-1")).toBe(true);
    expect(await world.credential.replace("token-2")).toBe(false);
    world.nowMs = 30_000;
    expect(await world.credential.replace("token-2")).toBe(true);
    expect(world.issued).toBe(3);
  });

  test("stays where the source fails", async () => {
    const world = createWorld();
    await world.credential.value();
    world.fails = true;
    expect(await world.credential.replace("token-1")).toBe(false);
    expect(world.credential.value()).toBe("token-1");
  });
});

test("a source that never answers fails in time, and is asked again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let asked = 0;
    const issue = (): Promise<never> => {
      asked += 1;
      return new Promise(() => undefined);
    };
    const credential = new RenewedCredential<string>({ issue, monotonicMs: () => 0, random: () => 0 });
    for (const count of [1, 2]) {
      const failed = expect(credential.value()).rejects.toThrow("did not answer in time");
      await vi.advanceTimersByTimeAsync(30_000);
      await failed;
      expect(asked).toBe(count);
    }
  } finally {
    vi.useRealTimers();
  }
});
