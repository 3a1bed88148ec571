/** Money between two builds: leases that are handed over, what an operator corrects, and alerts about it. */
import { expect } from "vitest";
import { startReceiver } from "../../support/webhook-receiver.js";
import { CALL_NANOS } from "../cluster.js";
import { type Crossing, PATIENT, type Subject } from "../crossing.js";

const BEFORE = 6;
const PAID = 20;
const CALLS = 40;

/** One build has leased most of a balance; the other's calls get all that is left of it, and not one more. */
export const leases: Subject = {
  name: "leases",
  cross: async (crossing) => {
    const { cluster, here, there, account } = crossing.parts;
    await crossing.opened(PAID);
    const { secret } = await crossing.keyAt(here);
    for (let call = 0; call < BEFORE; call += 1) await crossing.served(here, secret);
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, call) =>
        cluster.callers.insist([there, here], secret, `${account}-${call}`, {
          first: call % 4 === 0 ? 1 : 0,
          patienceMs: PATIENT.timeout,
        }),
      ),
    );
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([PAID - BEFORE, CALLS - PAID + BEFORE]);
    crossing.count += CALLS;
    const spent = { available_nanos: "0", held_nanos: "0", spent_nanos: String(CALL_NANOS * BigInt(PAID)) };
    await crossing.bothSay(`/accounts/${account}/balance`, spent);
  },
};

export const corrections: Subject = {
  name: "corrections and refunds",
  cross: async (crossing) => {
    const { here, there, account } = crossing.parts;
    await crossing.opened(100);
    const { secret } = await crossing.keyAt(there);
    const { id } = await crossing.served(here, secret);
    await settled(crossing, id);
    const refund = { refund_id: account, reason: "the answer was cut", amount_nanos: "400" };
    const both = async (path: string, body: object, repeated: string): Promise<void> => {
      expect(await crossing.manage(there, "POST", path, body)).toMatchObject({ [repeated]: false });
      expect(await crossing.manage(here, "POST", path, body)).toMatchObject({ [repeated]: true });
    };
    await both(`/requests/${id}:refund`, refund, "repeated_refund");
    const credit = { credit_id: `${account}-more`, amount_nanos: "1000", reason: "a gift" };
    await both(`/accounts/${account}:credit`, credit, "repeated_credit");
    const debit = { debit_id: `${account}-back`, amount_nanos: "300", reason: "it was too much" };
    await both(`/accounts/${account}:debit`, debit, "repeated_debit");
    const available = CALL_NANOS * 99n + 400n + 1_000n - 300n;
    await crossing.bothSay(`/accounts/${account}/balance`, { available_nanos: String(available), held_nanos: "0" });
    const kinds = [{ kind: "debit" }, { kind: "credit" }, { kind: "refund" }];
    await crossing.bothSay(`/accounts/${account}/entries?page_size=3`, { entries: kinds });
  },
};

/** What became of the money of a request is known at both. */
async function settled(crossing: Crossing, id: string): Promise<void> {
  await crossing.bothSay(`/requests/${id}`, { request: { state: "settled", charged_nanos: String(CALL_NANOS) } });
}

/** An alert that one build makes is seen to, told of and listed, whichever of them does it. */
export const alerts: Subject = {
  name: "alerts",
  cross: async (crossing) => {
    const { here, there, account } = crossing.parts;
    const receiver = await startReceiver();
    await crossing.opened(100);
    await crossing.manage(here, "POST", "/webhooks", { account_id: account, settings: { url: receiver.url } });
    const settings = { kind: "balance_low", name: "low", amount: "0.0005 USD" };
    await crossing.manage(there, "POST", "/alerts", { account_id: account, settings });
    const debit = { debit_id: account, amount_nanos: String(CALL_NANOS * 90n), reason: "a test" };
    await crossing.manage(here, "POST", `/accounts/${account}:debit`, debit);
    const fired = { type: "balance_low.fired", subject: `account ${account}` };
    await crossing.bothSay(`/events?account_id=${account}`, { events: [fired] });
    const hooked = () => receiver.received.filter(({ body }) => body.includes("balance_low.fired")).length;
    await expect.poll(hooked, PATIENT).toBeGreaterThan(0);
  },
};
