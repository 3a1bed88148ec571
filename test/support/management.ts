/** The management API as an operator calls it, over real HTTP. */
import { expect } from "vitest";
import { type GatewayProcess, OPERATOR_KEY } from "./gateway-process.js";

export interface Balance {
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
  readonly spentNanos: bigint;
  readonly grantedNanos: bigint;
}

type Json = Readonly<Record<string, unknown>>;

export class Management {
  constructor(
    private readonly gateway: GatewayProcess,
    private readonly key = OPERATOR_KEY,
  ) {}

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${this.gateway.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  /** Opens an account with credit, in nano-USD. */
  async account(id: string, creditNanos: bigint): Promise<void> {
    expect((await this.call("POST", "/accounts", { id, name: id })).status).toBe(200);
    if (creditNanos === 0n) return;
    const credit = { amount_nanos: String(creditNanos), credit_id: `first-${id}` };
    expect((await this.call("POST", `/accounts/${id}:credit`, credit)).status).toBe(200);
  }

  /** Makes a key and returns its secret and id. */
  async makeKey(accountId: string, settings: Json = {}): Promise<{ secret: string; id: string }> {
    const made = await this.call("POST", "/keys", { account_id: accountId, settings });
    expect(made.body, JSON.stringify(made.body)).toHaveProperty("secret");
    const { secret, key } = made.body as { secret: string; key: { id: string } };
    return { secret, id: key.id };
  }

  async balance(accountId: string): Promise<Balance> {
    const { status, body } = await this.call("GET", `/accounts/${accountId}/balance`);
    expect(status, JSON.stringify(body)).toBe(200);
    const nanos = (name: string): bigint => BigInt(String(body[name]));
    return {
      availableNanos: nanos("available_nanos"),
      heldNanos: nanos("held_nanos"),
      spentNanos: nanos("spent_nanos"),
      grantedNanos: nanos("granted_nanos"),
    };
  }

  /** The newest entry of an account. What nodes lease and give back by themselves is none. */
  async newestEntry(accountId: string): Promise<unknown> {
    const { status, body } = await this.call("GET", `/accounts/${accountId}/entries?page_size=1`);
    expect(status).toBe(200);
    return body["entries"];
  }

  /** Fails the test where the ledger does not hold. */
  async verify(): Promise<Json> {
    const { body } = await this.call("POST", "/ledger:verify", {});
    expect(body["problems"]).toEqual([]);
    expect(body["holds"]).toBe(true);
    return body;
  }
}
