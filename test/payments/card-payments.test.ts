/** Payments by card: each thing that Stripe reports is booked once, in whatever order and however often it is told. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { BookingLedger } from "../../src/payments/bookings.js";
import { NANOS_PER_CENT } from "../../src/base/money.js";
import { refusalOf } from "../keys/key-world.js";
import { SECRET_KEY, type SignedEvent, WEBHOOK_SECRET } from "../support/fake-stripe.js";
import { onEachStore, openStore } from "../support/stores.js";
import { type CardWorld, newAct, openCardWorld, send } from "./card-world.js";

const reasonOf = async (call: () => unknown): Promise<string> => (await refusalOf(call)).reasonWord;

onEachStore((driver) => {
  const open = async (): Promise<CardWorld> => openCardWorld(await openStore(driver));
  const proven = async (world: CardWorld): Promise<void> =>
    expect(await world.store.ledger.verify()).toMatchObject({ holds: true, problems: [] });

  test("what was paid is credited once, by one transfer with its record, whichever events tell of it", async () => {
    const world = await open();
    const [one, two] = [world.node(), world.node()];
    const { id, sessionId } = await world.begin(one, 2_500);
    expect(await world.cents()).toBe(0);
    const paid = world.stripe.pay(sessionId);
    const again = world.stripe.arrive(sessionId);
    const told = [paid, again, paid, again, paid].map((event, at) => send(at % 2 === 0 ? one : two, event));
    expect(await Promise.all(told)).toEqual([true, true, true, true, true]);
    expect(await world.cents()).toBe(2_500);
    expect(await world.payment(id)).toMatchObject({ creditedNanos: 25_000_000_000n, dueTimeMs: null, problem: "" });
    const { rows } = await world.store.audit.list({}, { size: 100, token: "" });
    expect(rows.filter(({ transferId }) => transferId === `c:${id}`)).toHaveLength(1);
    await proven(world);
  });

  test("the amount is the one that was paid, and the account the one that was kept here", async () => {
    const world = await open();
    const node = world.node();
    const { sessionId } = await world.begin(node, 2_500);
    const event = world.stripe.pay(sessionId);
    const claims = { ...JSON.parse(event.payload) };
    claims.data.object.metadata = { account_id: "other", tollgate_payment: "pay_000000000000000000000000" };
    claims.data.object.client_reference_id = "other";
    claims.data.object.amount_total = 1_999;
    await send(node, world.stripe.signed(JSON.stringify(claims)));
    expect([await world.cents("acme"), await world.cents("other")]).toEqual([1_999, 0]);
  });

  test.each(["before the transfer", "after it"])(
    "what a node that died %s had taken is booked by the next",
    async (when) => {
      const world = await open();
      const dying: BookingLedger = {
        credit: async (request) => {
          if (when === "after it") await world.ledger.credit(request);
          throw new Error("the node dies here");
        },
        debit: () => Promise.reject(new Error("the node dies here")),
      };
      const { id, sessionId } = await world.begin(world.node(), 700);
      const paid = world.stripe.pay(sessionId);
      await expect(send(world.node(dying), paid)).rejects.toThrow("dies here");
      const next = world.node();
      await next.settle();
      expect((await world.payment(id)).creditedNanos).toBe(0n);
      world.clock.nowMs += 10_000;
      await Promise.all([next.settle(), world.node().settle(), send(next, paid)]);
      expect(await world.cents()).toBe(700);
      expect(await world.payment(id)).toMatchObject({ creditedNanos: 700n * NANOS_PER_CENT, dueTimeMs: null });
      await proven(world);
    },
  );

  test("refunds are taken back once each, in part and in whole, also told before the payment", async () => {
    const world = await open();
    const node = world.node();
    const { id, sessionId } = await world.begin(node, 1_000);
    const paid = world.stripe.pay(sessionId);
    const first = world.stripe.refund(sessionId, 300);
    const second = world.stripe.refund(sessionId, 200);
    for (const event of [second, first, second, paid, first]) await send(node, event);
    expect(await world.cents()).toBe(500);
    const whole = world.stripe.refund(sessionId, 500);
    await Promise.all([send(node, whole), send(world.node(), whole)]);
    expect(await world.cents()).toBe(0);
    await send(node, world.stripe.failRefund(sessionId));
    expect(await world.cents()).toBe(500);
    expect(await world.payment(id)).toMatchObject({ takenNanos: 500n * NANOS_PER_CENT, receivableNanos: 0n });
    await proven(world);
  });

  test.each([
    ["a booking", "UPDATE payment_booking SET amount_nanos = amount_nanos + 10000000 WHERE kind = 'take'", "booking"],
    ["what was credited", "DELETE FROM payment_booking WHERE kind = 'credit'", "payment pay_"],
    ["what is to be received", "UPDATE payment SET receivable_nanos = 1 WHERE taken_nanos > 0", "payment pay_"],
  ])("a proof of the ledger finds %s that somebody changed", async (_name, change, problem) => {
    const place = await driver.place();
    const store = await place.open();
    const world = await openCardWorld(store);
    const node = world.node();
    const { sessionId } = await world.begin(node, 1_000);
    await send(node, world.stripe.pay(sessionId));
    await send(node, world.stripe.refund(sessionId, 300));
    await proven(world);
    await world.ledger.close();
    await store.close();
    await place.tamper(change);
    const report = await (await place.open()).ledger.verify();
    expect(report.holds).toBe(false);
    expect(report.problems.join("\n")).toContain(problem);
  });

  test("nobody is taken below zero: the rest is the operator's to receive, until a dispute is won", async () => {
    const world = await open();
    const node = world.node();
    const { id, sessionId } = await world.begin(node, 1_000);
    await send(node, world.stripe.pay(sessionId));
    await world.spend(700);
    const dispute = world.stripe.dispute(sessionId, 1_000);
    for (const event of [...dispute.events, ...dispute.events]) await send(node, event);
    expect(await world.cents()).toBe(0);
    expect(await world.payment(id)).toMatchObject({
      disputedNanos: 1_000n * NANOS_PER_CENT,
      receivableNanos: 700n * NANOS_PER_CENT,
    });
    for (const event of world.stripe.closeDispute(dispute.id, "won").toReversed()) await send(node, event);
    // What was spent stays spent.
    expect(await world.cents()).toBe(300);
    expect(await world.payment(id)).toMatchObject({ disputedNanos: 0n, takenNanos: 0n, receivableNanos: 0n });
    await proven(world);
  });

  test("a dispute that is lost stays taken, and one that was won before it was told moves nothing", async () => {
    const world = await open();
    const node = world.node();
    const lost = await world.begin(node, 500);
    const won = await world.begin(node, 500);
    for (const { sessionId } of [lost, won]) await send(node, world.stripe.pay(sessionId));
    const one = world.stripe.dispute(lost.sessionId, 500);
    for (const event of [...world.stripe.closeDispute(one.id, "lost"), ...one.events]) await send(node, event);
    expect(await world.cents()).toBe(500);
    const other = world.stripe.dispute(won.sessionId, 500);
    for (const event of [...world.stripe.closeDispute(other.id, "won"), ...other.events]) await send(node, event);
    expect(await world.cents()).toBe(500);
    expect(await world.payment(won.id)).toMatchObject({ takenNanos: 0n });
    await proven(world);
  });

  test("a payment that is on its way is pending until it comes or fails, and one that nobody pays ends", async () => {
    const world = await open();
    const node = world.node();
    const [comes, fails, ends] = [
      await world.begin(node, 500),
      await world.begin(node, 500),
      await world.begin(node, 500),
    ];
    await send(node, world.stripe.promise(comes.sessionId));
    await send(node, world.stripe.promise(fails.sessionId));
    expect(await world.payment(comes.id)).toMatchObject({ ending: "pending", payTimeMs: null });
    await send(node, world.stripe.arrive(comes.sessionId));
    await send(node, world.stripe.fail(fails.sessionId));
    await send(node, world.stripe.expire(ends.sessionId));
    expect(await world.cents()).toBe(500);
    expect([(await world.payment(fails.id)).ending, (await world.payment(ends.id)).ending]).toEqual([
      "failed",
      "expired",
    ]);
  });

  test("what cannot be credited is kept where the operator sees it, and is credited once it can be", async () => {
    const world = await open();
    const gone = await world.begin(world.node(), 500);
    let isGone = true;
    const node = world.node({
      credit: (request) => world.ledger.credit(isGone ? { ...request, accountId: "nobody" } : request),
      debit: (request) => world.ledger.corrections.debit(request),
    });
    expect(await send(node, world.stripe.pay(gone.sessionId))).toBe(true);
    const foreign = await world.begin(node, 600);
    world.stripe.session(foreign.sessionId).currency = "eur";
    await send(node, world.stripe.pay(foreign.sessionId));
    const listed = await node.list({ accountId: "", needsAttention: true }, undefined, 10);
    expect(listed.map(({ id, problem }) => [id, problem !== ""])).toEqual([
      [foreign.id, true],
      [gone.id, true],
    ]);
    expect(world.told).toHaveLength(1);
    isGone = false;
    world.clock.nowMs += 700_000;
    await node.settle();
    expect(await world.cents()).toBe(500);
    expect((await world.payment(gone.id)).problem).toBe("");
  });

  test("money for this gateway that its database does not know is kept once, and other people's is not", async () => {
    const world = await open();
    const node = world.node();
    const { sessionId } = await world.begin(node, 900);
    const paid = world.stripe.pay(sessionId);
    const altered = (change: (object: { id: string; metadata: Record<string, string> }) => void) => {
      const event: { id: string; data: { object: { id: string; metadata: Record<string, string> } } } = JSON.parse(
        paid.payload,
      );
      change(event.data.object);
      return world.stripe.signed(JSON.stringify(event));
    };
    const lost = altered((session) => {
      session.id = "cs_test_lost";
      session.metadata["tollgate_payment"] = "pay_0123456789abcdef01234567";
    });
    const other = altered((session) => {
      session.id = "cs_test_other";
      session.metadata = {};
    });
    expect([await send(node, lost), await send(node, lost), await send(node, other)]).toEqual([true, true, false]);
    const listed = await node.list({ accountId: "", needsAttention: true }, undefined, 10);
    expect(listed).toMatchObject([{ sessionId: "cs_test_lost", accountId: "", creditedNanos: 0n }]);
    expect(await world.cents()).toBe(0);
  });

  test("what Stripe told nobody is found by asking it, and asking again changes nothing", async () => {
    const world = await open();
    const node = world.node();
    const paid: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { sessionId } = await world.begin(node, 400);
      world.stripe.pay(sessionId);
      paid.push(sessionId);
    }
    await world.begin(node, 400);
    world.stripe.refund(paid[0] ?? "", 100);
    world.stripe.dispute(paid[1] ?? "", 400);
    const found = await node.reconcile(1, newAct());
    expect(found).toEqual({ lookedAt: 3, creditCount: 3, correctionCount: 2, stuckCount: 0 });
    expect(await world.cents()).toBe(700);
    expect(await node.reconcile(1, newAct())).toMatchObject({ creditCount: 0, correctionCount: 0 });
    expect(await world.cents()).toBe(700);
    world.stripe.failures = 100;
    expect(await reasonOf(() => node.reconcile(1, newAct()))).toBe("CARD_PAYMENTS_UNAVAILABLE");
    await proven(world);
  });

  test("an event that Stripe did not sign for this gateway, or long ago, is refused", async () => {
    const world = await open();
    const node = world.node();
    const { sessionId } = await world.begin(node, 500);
    const { payload, signature } = world.stripe.pay(sessionId);
    const nowS = Math.floor(world.clock.nowMs / 1_000);
    /** Signed by Stripe's own rule, for a time that is written in another way. */
    const signedAt = (time: string, before = ""): Pick<SignedEvent, "payload" | "signature"> => {
      const mac = createHmac("sha256", WEBHOOK_SECRET)
        .update(`${Number.parseInt(time, 10)}.${payload}`)
        .digest("hex");
      return { payload, signature: `${before}t=${time},v1=${mac}` };
    };
    const wrong = [
      { payload: payload.replace("500", "900"), signature },
      { payload, signature: "" },
      { payload, signature: "t=1,v1=00" },
      { payload, signature: signature.replace("v1=", "v0=") },
      world.stripe.signed(payload, "whsec_another"),
      world.stripe.signed(payload, ""),
      world.stripe.signed(payload, SECRET_KEY),
      world.stripe.signed(payload, undefined, nowS - 301),
      world.stripe.signed(payload, undefined, nowS + 302),
      world.stripe.signed(payload, undefined, nowS + 1_000_000_000),
      signedAt("NaN"),
      signedAt("-1"),
      signedAt(`${nowS}x`),
      signedAt(`${nowS}`, `t=${nowS - 400},`),
    ];
    for (const event of wrong) expect(await reasonOf(() => send(node, event))).toBe("STRIPE_EVENT_REFUSED");
    expect(await reasonOf(() => send(node, world.stripe.signed("{")))).toBe("BODY_INVALID");
    const large = world.stripe.signed(JSON.stringify({ filler: "x".repeat(66_000) }));
    expect(await reasonOf(() => send(node, large))).toBe("BODY_TOO_LARGE");
    expect(await world.cents()).toBe(0);
    // A clock that is a little off does no harm.
    expect(await send(node, world.stripe.signed(payload, undefined, nowS - 290))).toBe(true);
    expect(await world.cents()).toBe(500);
  });

  test("events of other kinds and of other people's payments are taken without an effect", async () => {
    const world = await open();
    const node = world.node();
    const charge = { id: "ch_1", payment_intent: "pi_elsewhere" };
    for (const event of [
      world.stripe.event("customer.created", { id: "cus_1" }),
      world.stripe.event("charge.refunded", charge),
      world.stripe.event("charge.refunded", { id: "ch_2", payment_intent: null }),
    ])
      expect(await send(node, event)).toBe(false);
    expect(await node.list({ accountId: "", needsAttention: false }, undefined, 10)).toEqual([]);
  });

  test("a payment is begun within the amounts, for an account that is there, and not without end", async () => {
    const world = await open();
    const node = world.node();
    const begin = (accountId: string, amountNanos: bigint, address = "192.0.2.1") =>
      reasonOf(() => node.begin({ accountId, amountNanos }, address, newAct()));
    expect(await begin("acme", 99n * NANOS_PER_CENT)).toBe("PARAMETER_INVALID");
    expect(await begin("acme", 100_001n * NANOS_PER_CENT)).toBe("PARAMETER_INVALID");
    expect(await begin("acme", 500n * NANOS_PER_CENT + 1n)).toBe("PARAMETER_INVALID");
    expect(await begin("nobody", 500n * NANOS_PER_CENT)).toBe("RESOURCE_UNKNOWN");
    expect(world.stripe.asked).toEqual([]);
    world.stripe.failures = 9;
    expect(await begin("acme", 500n * NANOS_PER_CENT)).toBe("CARD_PAYMENTS_UNAVAILABLE");
    world.stripe.failures = 0;
    const tries = Array.from({ length: 12 }, () =>
      node.begin({ accountId: "acme", amountNanos: 500n * NANOS_PER_CENT }, "192.0.2.1", newAct()),
    );
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThanOrEqual(3);
    expect(await begin("acme", 500n * NANOS_PER_CENT)).toBe("RATE_LIMITED");
  });
});
