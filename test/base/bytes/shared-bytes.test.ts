/** Shared memory that nobody needs any more is given back, though V8 counts none of it. */
import { setImmediate } from "node:timers/promises";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { expect, test } from "vitest";
import { asBuffer } from "../../../src/base/bytes/bytes.js";
import { copyShared, emptySharedBytes } from "../../../src/base/bytes/shared-bytes.js";
import { randomOf } from "../../support/random.js";

const MIB = 1024 * 1024;
/** What may be left of them is over twice what was seen, and much less than all of them. */
const LEFT_BYTES_MAX = 1_536 * MIB;
const BODIES = 4_096;

/** How many bytes more the process has at its most, while each body is filled and forgotten after 31 others. */
async function mostLeftBytes(make: () => Uint8Array): Promise<number> {
  const inFlight: Uint8Array[] = Array.from({ length: 32 });
  const before = process.memoryUsage.rss();
  let most = 0;
  for (let index = 0; index < BODIES && most < LEFT_BYTES_MAX; index++) {
    inFlight[index % inFlight.length] = make().fill(1);
    if (index % inFlight.length !== 0) continue;
    most = Math.max(most, process.memoryUsage.rss() - before);
    // V8 ends what it marks in small steps in a turn of its own.
    await setImmediate();
  }
  return most;
}

/** What lives as long as the memory, for V8 to count. */
function countedWith({ buffer }: Uint8Array): readonly unknown[] {
  return Object.getOwnPropertySymbols(buffer).map((name) => Reflect.get(buffer, name));
}

// Before the others: of memory that it had given back, the allocator clears what it takes again.
test("what makes it so takes no memory of its own", () => {
  const before = process.memoryUsage.rss();
  const kept = Array.from({ length: 256 }, () => emptySharedBytes(8 * MIB));
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MIB);
  expect(kept).toHaveLength(256);
});

test("what another thread gave is counted for this one, once", () => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(emptySharedBytes(MIB));
  const { message } = receiveMessageOnPort(port2) as { readonly message: Uint8Array };
  expect(countedWith(message)).toEqual([]);
  const [counted] = countedWith(asBuffer(message));
  expect(counted).toHaveLength(MIB / 8);
  const again = countedWith(asBuffer(message));
  expect(again).toHaveLength(1);
  expect(again[0]).toBe(counted);
  port1.close();
});

test("is copied as other memory is, from and to any place", () => {
  const random = randomOf(245);
  const below = (bound: number): number => Math.floor(random() * bound);
  const bytes = Buffer.from(Array.from({ length: 300 }, () => below(256)));
  const shared = emptySharedBytes(300);
  bytes.copy(shared);
  for (let turn = 0; turn < 2_000; turn++) {
    const [start, at] = [below(301), below(301)];
    const end = below(2) === 0 ? bytes.length : start + below(400 - start);
    for (const [from, to] of [
      [shared, Buffer.alloc(300)],
      [bytes, Buffer.from(new SharedArrayBuffer(300))],
      [bytes, Buffer.alloc(300)],
    ] as const) {
      const want = Buffer.alloc(300);
      expect(copyShared(from, to, at, start, end)).toBe(bytes.copy(want, at, start, end));
      expect(to.equals(want), `${start} to ${end}, at ${at}`).toBe(true);
    }
  }
});

test("bodies in shared memory that are over are given back", async () => {
  expect(await mostLeftBytes(() => emptySharedBytes(MIB))).toBeLessThan(LEFT_BYTES_MAX);
});
