/** A node that lives keeps its own holds, whatever the clock says, and those that nobody answers for are freed. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { WAIT, bench, request, settlement } from "./bench.js";
import { MINUTE_MS, usage } from "./operations.js";

describe("recovery", () => {
  type Recovered = (settled: number, voided: number) => void;
  const recovered = vi.fn<Recovered>();
  beforeEach(() => void recovered.mockReset());

  /** A ledger whose node does not beat once it started, as one that is cut off, or dead. */
  const SILENT = { beatEveryMs: 3_600_000 };
  const HOUR_MS = 3_600_000;

  /** Waits until a ledger beat some times more: each beat is a write. */
  async function beats(store: Store, times = 3): Promise<void> {
    const spy = vi.spyOn(store.ledger, "commit");
    await vi.waitFor(() => expect(beatsIn(spy.mock.calls)).toBeGreaterThanOrEqual(times), WAIT);
    spy.mockRestore();
  }
  const beatsIn = (calls: readonly (readonly [readonly LedgerOperation[]])[]): number =>
    calls.flatMap(([operations]) => operations).filter(({ kind }) => kind === "recover").length;

  test("by another node settles what was noted and frees the rest, once the node was silent for a lease", async () => {
    const { ledger, another, advance, store } = await bench(SILENT);
    const noted = await ledger.hold(request({ requestId: "noted" }));
    await ledger.hold(request({ requestId: "silent" }));
    noted.checkpoint({ usage: usage(1n), costNanos: 1n, upstream: "sim", attempts: 1 });
    noted.checkpoint({ usage: usage(2n), costNanos: 2n, upstream: "sim", attempts: 1 });
    noted.checkpoint({ usage: usage(3n), costNanos: 3n, upstream: "sim", attempts: 1 });
    await vi.waitFor(async () => expect(await store.requests.get("noted")).toMatchObject({ costNanos: 3n }), WAIT);
    await another("node_2", { onRecovered: recovered }).start();
    await beats(store);
    advance(14_999);
    await beats(store);
    expect(recovered).not.toHaveBeenCalled();
    advance(1);
    await vi.waitFor(() => expect(recovered.mock.calls).toEqual([[1, 1]]), WAIT);
    expect(await store.requests.get("noted")).toMatchObject({ state: "settled", costNanos: 3n, usageSource: 3 });
    expect(await store.requests.get("silent")).toMatchObject({ state: "voided" });
    expect(await ledger.balance("acme")).toMatchObject({ availableNanos: 97n, heldNanos: 0n });
  });

  test.each([-HOUR_MS, HOUR_MS, 365 * 24 * HOUR_MS])(
    "leaves every live hold where it is when the clock is set by %i ms, on its own node and on others",
    async (jumpMs) => {
      const { ledger, another, setClock, advance, store } = await bench({ onRecovered: recovered });
      const other = another("node_2", { onRecovered: recovered });
      await other.start();
      const holds = await Promise.all(
        [ledger, other].map((one, index) => one.hold(request({ requestId: `r${index}`, timeoutMs: 600_000.25 }))),
      );
      setClock(jumpMs);
      await beats(store);
      advance(10_000);
      await beats(store);
      expect(recovered).not.toHaveBeenCalled();
      expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 20n });
      for (const hold of holds) expect(await hold.settle(settlement(4n))).toMatchObject({ chargedNanos: 4n });
      expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 8n });
    },
  );

  test.each([-HOUR_MS, HOUR_MS])("frees what a dead node held though the clock is set by %i ms", async (jumpMs) => {
    const { ledger, another, setClock, advance, store } = await bench(SILENT);
    await ledger.hold(request());
    await another("node_2", { onRecovered: recovered }).start();
    setClock(jumpMs);
    await beats(store);
    expect(recovered).not.toHaveBeenCalled();
    advance(15_000);
    await vi.waitFor(() => expect(recovered.mock.calls).toEqual([[0, 1]]), WAIT);
  });

  test("takes over at once from a node that closed", async () => {
    const { ledger, another } = await bench();
    await ledger.hold(request());
    await ledger.close();
    await another("node_2", { onRecovered: recovered }).start();
    expect(recovered.mock.calls).toEqual([[0, 1]]);
  });

  test("then the late settlement still charges, once", async () => {
    const { ledger, another, advance, store } = await bench(SILENT);
    const hold = await ledger.hold(request());
    await another("node_2", { onRecovered: recovered }).start();
    await beats(store);
    advance(15_001);
    await vi.waitFor(() => expect(recovered).toHaveBeenCalled(), WAIT);
    expect(await hold.settle(settlement(4n))).toEqual({ chargedNanos: 4n, overageNanos: 0n });
    expect(await ledger.balance("acme")).toMatchObject({ availableNanos: 96n, spentNanos: 4n });
  });

  test("frees a hold of its own whose grant the database gave and nobody heard, and no other", async () => {
    const { ledger, store } = await bench({ onRecovered: recovered });
    const kept = await ledger.hold(request({ requestId: "kept" }));
    const { commit } = store.ledger;
    const deaf = vi.spyOn(store.ledger, "commit").mockImplementation(async (operations) => {
      const results = await commit(operations);
      const isLost = operations.some((operation) => operation.kind === "hold" && operation.requestId === "lost");
      if (isLost) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
      return results;
    });
    const lost = ledger.hold(request({ requestId: "lost" }));
    await expect(lost).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    deaf.mockRestore();
    expect(await store.requests.get("lost")).toMatchObject({ holdNanos: 10n });
    await vi.waitFor(async () => expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 10n }), WAIT);
    expect(await kept.settle(settlement(4n))).toMatchObject({ chargedNanos: 4n });
  });

  test("ends a hold that outlived its request, but never one whose settlement waits for the database", async () => {
    const state = await bench({ onRecovered: recovered });
    const { ledger, advance } = state;
    await ledger.hold(request({ requestId: "forgotten" }));
    const late = await ledger.hold(request({ requestId: "late" }));
    state.away = true;
    await late.settle(settlement(4n));
    advance(MINUTE_MS + 60_001);
    state.away = false;
    await vi.waitFor(async () => expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n }), WAIT);
    expect(await ledger.balance("acme")).toMatchObject({ spentNanos: 4n });
    expect(recovered.mock.calls).toEqual([[0, 1]]);
  });

  test("rejects the start where the database is away", async () => {
    const state = await bench();
    state.away = true;
    const start = state.another("node_2").start();
    await expect(start).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
  });
});
