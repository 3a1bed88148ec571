/**
 * A storm of events: payments, refunds and disputes at random, told in any order, more than once, to nodes that die
 * before and after they book. In the end each account has what a plain model says, to the nano-dollar.
 */
import { expect, test } from "vitest";
import { NANOS_PER_CENT } from "../../src/base/money.js";
import type { BookingLedger } from "../../src/payments/bookings.js";
import { type Random, randomOf } from "../support/random.js";
import type { SignedEvent } from "../support/fake-stripe.js";
import { onEachStore, openStore } from "../support/stores.js";
import { type CardWorld, openCardWorld, send } from "./card-world.js";

const PAYMENTS = 24;
const SEED = Number(process.env["TOLLGATE_STORM_SEED"] ?? Date.now() % 1_000_000);

/** What is left of a payment by what happened, whoever was told of it. */
interface Life {
  readonly id: string;
  readonly sessionId: string;
  readonly cents: number;
  paid: boolean;
  refunded: number;
  disputed: number;
}

onEachStore((driver) => {
  test(`accounts have what was paid, less what was taken back, to the nano-dollar (seed ${SEED})`, async () => {
    const world = await openCardWorld(await openStore(driver));
    const random = randomOf(SEED);
    const below = (count: number): number => Math.floor(random() * count);
    const nodes = [0, 1, 2].map(() => world.node(dyingLedger(world, random)));
    const nodeAt = (): (typeof nodes)[number] => nodes[below(nodes.length)] ?? world.node();
    const lives: Life[] = [];
    const events: SignedEvent[] = [];
    for (let count = 0; count < PAYMENTS; count++) {
      const cents = 100 + below(5_000);
      const begun = await world.begin(nodeAt(), cents, below(2) === 0 ? "acme" : "other");
      const life = { ...begun, cents, paid: false, refunded: 0, disputed: 0 };
      lives.push(life);
      events.push(...happen(world, life, below));
    }
    // Events are signed with the time of their making: what is told late is signed anew, as Stripe does.
    const storm = shuffled([...events, ...events, ...events], random);
    const again: SignedEvent[] = [];
    for (let at = 0; at < storm.length; at += 4) {
      const told = storm.slice(at, at + 4).map(async (event) => {
        const signed = world.stripe.signed(event.payload);
        await send(nodeAt(), signed).catch(() => void again.push(event));
      });
      await Promise.all(told);
    }
    const calm = world.node();
    for (const event of again) await send(calm, world.stripe.signed(event.payload));
    world.clock.nowMs += 60_000;
    await calm.settle();

    let sum = 0n;
    for (const { id, cents, paid, refunded, disputed } of lives) {
      const left = paid ? BigInt(Math.max(0, cents - refunded - disputed)) * NANOS_PER_CENT : 0n;
      const { creditedNanos, takenNanos, dueTimeMs, problem } = await world.payment(id);
      expect({ id, left: creditedNanos - takenNanos, dueTimeMs, problem }).toEqual({
        id,
        left,
        dueTimeMs: null,
        problem: "",
      });
      sum += left;
    }
    const balances = await Promise.all(["acme", "other"].map((id) => world.ledger.balance(id)));
    const receivable = (await Promise.all(lives.map(({ id }) => world.payment(id)))).map((row) => row.receivableNanos);
    // What an account did not have when it was taken is the operator's to receive.
    expect(balances.reduce((total, { availableNanos }) => total + availableNanos, 0n)).toBe(
      sum + receivable.reduce((total, nanos) => total + nanos, 0n),
    );
    expect(await world.store.ledger.verify()).toMatchObject({ holds: true, problems: [] });
  });
});

/** What happens to one payment, as events in the order in which they were made. */
function happen({ stripe }: CardWorld, life: Life, below: (count: number) => number): SignedEvent[] {
  const { sessionId, cents } = life;
  if (below(8) === 0) return [stripe.expire(sessionId)];
  const events = below(3) === 0 ? [stripe.promise(sessionId), stripe.arrive(sessionId)] : [stripe.pay(sessionId)];
  life.paid = true;
  for (let steps = below(4); steps > 0; steps--) {
    const left = cents - life.refunded;
    if (below(2) === 0 && left > 0) {
      const amount = below(3) === 0 ? left : 1 + below(left);
      events.push(stripe.refund(sessionId, amount));
      if (below(5) === 0) events.push(stripe.failRefund(sessionId));
      else life.refunded += amount;
      continue;
    }
    const dispute = stripe.dispute(sessionId, cents);
    const end = below(3);
    events.push(...dispute.events);
    if (end > 0) events.push(...stripe.closeDispute(dispute.id, end === 1 ? "won" : "lost"));
    if (end !== 1) life.disputed += cents;
  }
  return events;
}

/** Dies now and then before it books, and now and then behind it. */
function dyingLedger({ ledger: { corrections } }: CardWorld, random: Random): BookingLedger {
  const dying = async <Answer>(book: () => Promise<Answer>): Promise<Answer> => {
    const fate = random();
    if (fate < 0.15) throw new Error("the node dies before it books");
    const answer = await book();
    if (fate > 0.85) throw new Error("the node dies behind it");
    return answer;
  };
  return {
    credit: (request) => dying(() => corrections.credit(request)),
    debit: (request) => dying(() => corrections.debit(request)),
  };
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
