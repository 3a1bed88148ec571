/** A recorded answer: everyone reads all of it at its own pace, and what it takes has bounds. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { Cancellation } from "../../../src/base/cancellation.js";
import type { CallMetadata, Sink } from "../../../src/api/channel.js";
import { GatewayError } from "../../../src/base/errors.js";
import { BytePool } from "../../../src/base/bytes/byte-pool.js";
import { Tape } from "../../../src/gateway/replay/tape.js";

const MIB = 1_048_576;

/** Takes messages while it has room. */
class Reader implements Sink<string> {
  readonly messages: string[] = [];
  metadata: CallMetadata | undefined;
  #onDrain: () => void = () => undefined;

  constructor(public room = Number.POSITIVE_INFINITY) {}

  head(metadata: CallMetadata): void {
    this.metadata = metadata;
  }

  data(message: string): boolean {
    this.messages.push(message);
    this.room -= 1;
    return this.room > 0;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  drain(room: number): void {
    this.room = room;
    this.#onDrain();
  }
}

function setUp(poolBytes = 100 * MIB, bytesMax = 100 * MIB) {
  let used = 0;
  const pool = new BytePool(poolBytes, (bytes) => (used = bytes));
  const bytesOf = (message: string): Buffer => Buffer.from(message);
  const messageOf = (bytes: Buffer): string => bytes.toString();
  const tape = new Tape<string>({ accountId: "acme", bytesOf, messageOf, bytesMax, pool });
  return { tape, pool, used: () => used, signal: new Cancellation() };
}

describe("a reader", () => {
  test.each([0, 1, 2, 3, 4])("that comes after %i of three messages reads all of them, once", async (after) => {
    const { tape, signal } = setUp();
    const reader = new Reader();
    const messages = ["a", "b", "c"];
    let read: Promise<void> | undefined;
    tape.head({ "x-one": "1" });
    for (const [index, message] of messages.entries()) {
      if (index === after) read = tape.follow(reader, signal);
      tape.data(message);
    }
    if (after === 3) read = tape.follow(reader, signal);
    tape.close();
    await (read ?? tape.follow(reader, signal));
    expect(reader.messages).toEqual(messages);
    expect(reader.metadata).toEqual({ "x-one": "1" });
  });

  test("gets the error after everything that came before it", async () => {
    const { tape, signal } = setUp();
    const reader = new Reader(1);
    const read = tape.follow(reader, signal);
    for (const message of ["a", "b"]) tape.data(message);
    tape.close(new GatewayError("ERROR_REASON_UPSTREAM_FAILED"));
    reader.drain(9);
    await expect(read).rejects.toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FAILED" });
    expect(reader.messages).toEqual(["a", "b"]);
    expect(tape.end).toMatchObject({ told: true });
  });

  test("that leaves takes nothing along", async () => {
    const { tape, signal } = setUp();
    const [leaving, staying] = [new Reader(), new Reader()];
    const left = tape.follow(leaving, signal);
    const stayed = tape.follow(staying, new Cancellation());
    tape.data("a");
    signal.abort(new GatewayError("ERROR_REASON_CANCELLED"));
    tape.data("b");
    tape.close();
    await expect(left).rejects.toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
    await stayed;
    expect([leaving.messages, staying.messages]).toEqual([["a"], ["a", "b"]]);
  });

  test("that cannot tell what it reads takes nothing along", async () => {
    const { tape, signal } = setUp();
    const [failing, staying] = [new Reader(), new Reader()];
    failing.data = () => {
      throw new GatewayError("ERROR_REASON_BODY_TOO_LARGE");
    };
    const failed = tape.follow(failing, signal);
    const stayed = tape.follow(staying, signal);
    expect(tape.data("a")).toBe(true);
    tape.close();
    await expect(failed).rejects.toMatchObject({ reason: "ERROR_REASON_BODY_TOO_LARGE" });
    await stayed;
    expect(staying.messages).toEqual(["a"]);
    expect(tape.isWhole).toBe(true);
  });

  test("any number of them, however slow, read the same", async () => {
    const readers = fc.array(fc.record({ after: fc.nat(20), room: fc.integer({ min: 1, max: 5 }) }), { maxLength: 6 });
    const property = fc.asyncProperty(fc.array(fc.string(), { maxLength: 20 }), readers, async (messages, plans) => {
      const { tape, signal, used } = setUp();
      const open: { reader: Reader; read: Promise<void>; room: number }[] = [];
      const join = (at: number): void => {
        for (const { after, room } of plans) {
          if (Math.min(after, messages.length) !== at) continue;
          const reader = new Reader(room);
          open.push({ reader, room, read: tape.follow(reader, signal) });
        }
      };
      for (const [index, message] of messages.entries()) {
        join(index);
        expect(tape.data(message)).toBe(true);
      }
      join(messages.length);
      tape.close();
      for (const { reader, room } of open) for (let turn = 0; turn < 30; turn += 1) reader.drain(room);
      await Promise.all(open.map(({ read }) => read));
      for (const { reader } of open) expect(reader.messages).toEqual(messages);
      tape.release();
      expect(used()).toBe(0);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe("a tape that grows over its bounds", () => {
  const PIECE = "x".repeat(MIB / 4);

  test.each([
    { name: "its own", poolBytes: 100 * MIB, bytesMax: MIB },
    { name: "those of all", poolBytes: MIB, bytesMax: 100 * MIB },
  ])("$name: keeps nothing, and waits for its readers", async ({ poolBytes, bytesMax }) => {
    const { tape, signal, used } = setUp(poolBytes, bytesMax);
    const reader = new Reader(1);
    let drained = 0;
    tape.onDrain(() => (drained += 1));
    const read = tape.follow(reader, signal);
    let pushed = 0;
    while (tape.data(PIECE)) pushed += 1;
    expect(pushed).toBeLessThan(12);
    expect(tape.isWhole).toBe(false);
    expect(used()).toBe(0);
    expect(drained).toBe(0);
    reader.drain(100);
    expect(drained).toBe(1);
    expect(tape.bytes).toBe(0);
    await expect(tape.follow(new Reader(), signal)).rejects.toThrow("not whole");
    tape.close();
    await read;
    expect(reader.messages).toHaveLength(pushed + 1);
  });

  test("tells that it did, and gives back what it took", () => {
    const { tape, used } = setUp(100 * MIB, MIB);
    let spills = 0;
    tape.onSpill = () => (spills += 1);
    for (let count = 0; count < 8; count += 1) tape.data(PIECE);
    tape.release();
    expect(spills).toBe(1);
    expect(used()).toBe(0);
  });
});
