/** The socket between the owner of a database and its workers: answers in order, whole, and an end that is heard of. */
import { connect } from "node:net";
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { OwnerCoordination } from "../../src/coordination/owner.js";
import { createOwnedCoordination } from "../../src/coordination/owned.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { RELAY_PIECES_MAX } from "../../src/coordination/piece-relays.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Part, Visitor } from "../../src/owner/owner-desk.js";
import { Claims } from "../../src/store/claims.js";
import { callsOf } from "../coordination/drivers.js";
import { startOwner, type TestOwner } from "../support/owner.js";
import { pace } from "../support/pauses.js";

async function ownerOf(
  parts: Readonly<Record<string, Part>>,
  events: Parameters<typeof startOwner>[1] = {},
): Promise<TestOwner> {
  const owner = await startOwner(parts, events);
  onTestFinished(() => owner.close());
  return owner;
}

test("what threads can pass comes back as it was sent, of any size, and each call has its own answer", async () => {
  const owner = await ownerOf({ echo: (_name, [value, waitMs]) => pace(Number(waitMs)).then(() => value) });
  const worker = await owner.come();
  const bytes = randomBytes(3_000_000);
  const values = [1n << 80n, undefined, null, -0, { deep: [new Date(7)] }, bytes, new Float64Array(3)];
  // The later ones are answered first.
  const answers = await Promise.all(
    values.map((value, index) => worker.call("echo", "", [value, (values.length - index) * 5])),
  );
  // Compared by itself: the matcher would look at each byte.
  expect(bytes.equals(answers[5] as Uint8Array)).toBe(true);
  const small = (all: readonly unknown[]): unknown[] => all.filter((_value, place) => place !== 5);
  expect(small(answers)).toEqual(small(values));
  await worker.close();
});

test("a failure comes back with its reason and its facts", async () => {
  const owner = await ownerOf({
    refuse: () => {
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too much", retry_after_ms: "7" });
    },
    break: () => Promise.reject(new TypeError("broken")),
  });
  const worker = await owner.come();
  const refusal = await worker.call("refuse", "", []).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ reason: "ERROR_REASON_OVERLOADED", retryAfterMs: 7 });
  await expect(worker.call("break", "", [])).rejects.toMatchObject({ reason: "ERROR_REASON_INTERNAL" });
  await worker.close();
});

test("a worker whose owner ends is told once, and refused whatever it asks", async () => {
  const owner = await startOwner({ hang: () => new Promise(() => undefined) });
  let lost = 0;
  const worker = await owner.come(() => (lost += 1));
  const waiting = worker.call("hang", "", []);
  await pace(20);
  await owner.close();
  await expect(waiting).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
  await expect(worker.call("hang", "", [])).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
  expect(lost).toBe(1);
});

test("what is no frame ends its connection, and no other", async () => {
  const seen: string[] = [];
  const owner = await ownerOf({ echo: (_name, [value]) => value }, { onLeft: () => seen.push("left") });
  const worker = await owner.come();
  const stranger = connect(owner.path);
  stranger.on("error", () => undefined);
  stranger.write(Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]));
  await expect.poll(() => seen).toEqual(["left"]);
  await expect(worker.call("echo", "", ["there"])).resolves.toBe("there");
  await worker.close();
});

async function coordinated(): Promise<{ readonly owner: TestOwner; readonly shared: OwnerCoordination }> {
  const shared = new OwnerCoordination(createInProcessCoordination({ nowMs: () => 0, heartbeatMs: 0 }));
  const parts = {
    coordination: ((name, args, visitor) => shared.answer(name, args, visitor)) satisfies Part,
  };
  const events = {
    onCame: (visitor: Visitor) => shared.came(visitor),
    onLeft: (visitor: Visitor) => shared.left(visitor),
  };
  return { owner: await ownerOf(parts, events), shared };
}

test("a worker that ends leaves its slots to the others at once", async () => {
  const { owner } = await coordinated();
  const [one, two] = [await owner.come(), await owner.come()];
  const demand = { subject: "key a", limits: { requestsPerMinute: 0, tokensPerMinute: 0, concurrency: 1 }, tokens: 0 };
  const admit = (link: typeof one, requestId: string) =>
    createOwnedCoordination(callsOf(link)).admit({ requestId, accountId: "acme", demands: [demand] });
  expect(await admit(one, "r1")).toMatchObject({ admitted: true });
  expect(await admit(two, "r2")).toMatchObject({ admitted: false, limit: "concurrency" });
  await one.close();
  await expect.poll(() => admit(two, "r2")).toMatchObject({ admitted: true });
  await two.close();
});

test("a change is answered once every worker has heard of it, and refused where one does not hear", async () => {
  const { owner } = await coordinated();
  const links = [await owner.come(), await owner.come(), await owner.come()] as const;
  const heard: string[] = [];
  const [first, second] = links.map((link, place) => {
    const coordination = createOwnedCoordination(callsOf(link));
    coordination.onRevision((name) => heard.push(`${place} ${name}`));
    return coordination;
  });
  await first?.publishRevision("acme", "key_1");
  expect(heard.toSorted()).toEqual(["0 key_1", "1 key_1", "2 key_1"]);
  // One that hears nothing, as a process that is suspended does.
  links[2].hear("revision", () => undefined);
  await expect(second?.publishRevision("acme", "key_2")).rejects.toThrow();
  expect(heard).toContain("0 key_2");
  for (const link of links) await link.close();
});

test("a worker reads what another one keeps, piece by piece, of which few lie with the owner", async () => {
  const { owner } = await coordinated();
  const links = [await owner.come(), await owner.come()] as const;
  const [reader, writer] = links.map((link) => createOwnedCoordination(callsOf(link)));
  const pieces = Array.from({ length: 50 }, (_, index) => `piece ${index}`);
  const left = [...pieces];
  const read: string[] = [];
  let over = "";
  writer?.relays?.onAsked((question, accept) => {
    expect(question.toString()).toBe("which?");
    const next = (): Buffer | undefined => (left.length === 0 ? undefined : Buffer.from(left.shift() ?? ""));
    accept({ next, gone: () => (over = "gone") }).wake();
  });
  const inlet = await reader?.relays?.ask("acme", Buffer.from("which?"), {
    piece: (bytes) => read.push(bytes.toString()),
    lost: () => (over = "lost"),
  });
  inlet?.pause();
  await expect.poll(() => left.length).toBe(pieces.length - RELAY_PIECES_MAX - 1);
  expect(read).toEqual([]);
  inlet?.resume();
  await expect.poll(() => read).toEqual(pieces);
  inlet?.close();
  await expect.poll(() => over).toBe("gone");
  for (const coordination of [reader, writer]) await coordination?.close();
  for (const link of links) await link.close();
});

test("of two workers that claim a key one is first, until it ends, gives it up, or a minute is over", () => {
  let nowMs = 0;
  const claims = new Claims<string>(() => nowMs);
  const [key, other] = [Buffer.from("key"), Buffer.from("other")];
  claims.take(key, "r1", "one");
  claims.take(key, "r1", "one");
  claims.take(other, "r2", "two");
  expect(() => claims.take(key, "r3", "two")).toThrow(GatewayError);
  expect(claims.release(key, "two")).toBe(false);
  expect(claims.release(key, "one")).toBe(true);
  claims.take(key, "r3", "two");
  claims.left("two");
  claims.take(key, "r4", "one");
  nowMs = 60_000;
  claims.take(key, "r5", "two");
});
