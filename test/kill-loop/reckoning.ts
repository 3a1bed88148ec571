/** What a ledger must say of a load after the process died under it: nothing lost, nothing twice, nothing too much. */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect } from "vitest";
import type { Management } from "../support/management.js";
import { PRICE } from "../support/world.js";
import type { Death } from "./plan.js";
import { type Call, CREDIT_NANOS, type Json, type Load } from "./load.js";
import { endsOf, expectOneTruth, expectSumsOf } from "./one-truth.js";
import type { HonestUpstream, Work } from "./upstream.js";

/** What a kill may leave uncharged of a live stream. */
const LOST_TOKENS_MAX = 1_000;
/** A checkpoint's two seconds, and its wait for company; beside them, how late timers are and what commits take. */
const LOST_MS = 2_500;
const USAGE_SOURCES = ["reported", "counted", "recovered", "none"];
const ENTRY_KINDS = /^(hold|settle|void|expire|overage|credit|refund|debit|receivable)$/;

/** What was found over many deaths. */
export interface Tally {
  calls: number;
  streamsCut: number;
  acknowledged: number;
  recovered: number;
  /** The most tokens of a live stream that a kill left uncharged, delivered before its last two seconds or not. */
  lostTokensMost: number;
  /** The same over throws and stalls, where the ledger could not be written for longer than the bound. */
  faultLostTokensMost: number;
  resolveMsMost: number;
}

export class Reckoning {
  readonly #account: string;
  readonly #management: Management;
  readonly #upstream: HonestUpstream;
  readonly #tally: Tally;

  constructor(account: string, management: Management, upstream: HonestUpstream, tally: Tally) {
    this.#account = account;
    this.#management = management;
    this.#upstream = upstream;
    this.#tally = tally;
  }

  async check(load: Load, death: Death): Promise<void> {
    const entries = new Map((await this.#all("entries")).map((entry) => [String(entry["id"]), entry]));
    for (const [id, entry] of load.shown) expect(entries.get(id), `shown once: ${id}`).toEqual(entry);
    for (const id of load.credited) expect(entries.get(`c:${id}`), `acknowledged: ${id}`).toBeDefined();
    expectOneEndEach(entries);

    const requests = await this.#requests(entries, load);
    const ends = endsOf(entries.values());
    await expectOneTruth(new Map([...requests].filter(([, record]) => isNew(record, load))), ends, this.#management);
    await expectSumsOf(ends, requests, this.#account, this.#management);
    const nameless: Call[] = [];
    for (const call of load.calls) {
      const record = requests.get(call.requestId ?? "");
      if (call.requestId === undefined) nameless.push(call);
      else this.#expectFair(call, record, death, load);
      requests.delete(call.requestId ?? "");
    }
    // Calls that got no head cannot be told apart: together they cost no more than was done for them together.
    const done = nameless.reduce((sum, { user }) => sum + costOf(this.#upstream.works.get(user)), 0n);
    const since = [...requests.values()].filter((record) => record["key_id"] !== "" && isNew(record, load));
    const charged = since.reduce((sum, record) => sum + BigInt(String(record["cost_nanos"])), 0n);
    expect(charged <= done, `${charged} nano-USD for calls without a head, which cost ${done}`).toBe(true);
    this.#tally.calls += load.calls.length;
    await this.#expectSums(entries);
  }

  #expectFair(call: Call, record: Json | undefined, death: Death, load: Load): void {
    const work = this.#upstream.works.get(call.user);
    const what = `${call.user} ${JSON.stringify(death)} ${JSON.stringify(record)}`;
    // Refused, a throw before its hold, or admitted against a lease and dead before its hold was written.
    // The ledger knows none of those; what else is kept of requests may.
    if (record === undefined || record["state"] === "uncharged") {
      expect([record?.["cost_nanos"] ?? "0", record?.["charged_nanos"] ?? "0"], what).toEqual(["0", "0"]);
      expect(call.whole, `free, ${what}`).toBe(false);
      return this.#expectLittleLost(call, 0, death, load, what);
    }
    const usage = record["usage"] as Record<string, string> | undefined;
    const charged = { input: Number(usage?.["input_tokens"] ?? 0), output: Number(usage?.["output_tokens"] ?? 0) };
    const generated = encode(work?.text ?? "").length;
    expect(record["state"], what).toMatch(/^(settled|voided|expired)$/);
    expect(charged.input, what).toBeLessThanOrEqual(work?.promptTokens ?? 0);
    expect(charged.output, what).toBeLessThanOrEqual(generated);
    expect(BigInt(String(record["cost_nanos"])) <= costOf(work), what).toBe(true);
    // Of what was not charged no usage is told.
    const source = record["state"] === "settled" ? String(record["usage_source"]) : "none";
    // A word that is not known here would pass every check below.
    expect(USAGE_SOURCES, what).toContain(source);
    if (source === "reported") expect(charged, what).toEqual({ input: work?.promptTokens, output: generated });
    if (source === "recovered") this.#tally.recovered += 1;
    if (call.whole) this.#tally.acknowledged += 1;
    if (call.stream && !call.whole && call.text !== "") this.#tally.streamsCut += 1;

    // Whatever its length, and whatever became of the database, it is noted, or there, before its end is told.
    if (call.whole) expect(source, `free, ${what}`).toBe("reported");
    this.#expectLittleLost(call, charged.output, death, load, what);
  }

  #expectLittleLost(call: Call, chargedTokens: number, death: Death, load: Load, what: string): void {
    const lost = encode(call.text).length - chargedTokens;
    if (death.action === "kill") {
      this.#tally.lostTokensMost = Math.max(this.#tally.lostTokensMost, lost);
      // A checkpoint waits for the one before it, so that what it holds may be as old as two commits take.
      const sinceMs = load.diedMs - LOST_MS - load.lateMsMost - 2 * load.commitMsMost;
      if (lost > LOST_TOKENS_MAX) expect(lost, what).toBeLessThanOrEqual(tokensSince(call, sinceMs));
    } else this.#tally.faultLostTokensMost = Math.max(this.#tally.faultLostTokensMost, lost);
  }

  async #expectSums(entries: ReadonlyMap<string, Json>): Promise<void> {
    const balance = await this.#management.balance(this.#account);
    const count = [...entries.values()].filter(
      ({ kind, id }) => kind === "credit" && !String(id).startsWith("c:first-"),
    );
    expect(balance.heldNanos).toBe(0n);
    expect(balance.availableNanos + balance.spentNanos).toBe(balance.grantedNanos);
    expect((balance.grantedNanos - BigInt(count.length) * CREDIT_NANOS) % 1_000_000_000n).toBe(0n);
  }

  /** The requests by id, all of the load's. A list has those of a crash a while later: the ledger has them at once. */
  async #requests(entries: ReadonlyMap<string, Json>, load: Load): Promise<Map<string, Json>> {
    const requests = new Map((await this.#all("requests")).map((record) => [String(record["id"]), record]));
    for (const entry of entries.values()) {
      const id = String(entry["request_id"]);
      if (entry["kind"] !== "hold" || !isNew(entry, load) || requests.has(id)) continue;
      const { status, body } = await this.#management.call("GET", `/requests/${id}`);
      expect(status, id).toBe(200);
      requests.set(id, body["request"] as Json);
    }
    return requests;
  }

  /** All pages of a list of the account. */
  async #all(list: "entries" | "requests"): Promise<Json[]> {
    const path = list === "entries" ? `/accounts/${this.#account}/entries?` : `/requests?account_id=${this.#account}&`;
    const rows: Json[] = [];
    for (let token = ""; ;) {
      const { status, body } = await this.#management.call("GET", `${path}page_size=1000&page_token=${token}`);
      expect(status).toBe(200);
      rows.push(...(body[list] as Json[]));
      token = String(body["next_page_token"]);
      if (token === "") return rows;
    }
  }
}

/** Every hold has exactly one end, no charge is without a hold, and no request is charged twice for its models. */
function expectOneEndEach(entries: ReadonlyMap<string, Json>): void {
  const ends = new Map<string, number>();
  const charges = new Map<string, number>();
  for (const { id, kind, request_id: request } of entries.values()) {
    expect(kind).toMatch(ENTRY_KINDS);
    const hold = String(id).slice(2);
    if (kind === "hold") ends.set(hold, ends.get(hold) ?? 0);
    else if (/^(settle|void|expire)$/.test(String(kind))) ends.set(hold, (ends.get(hold) ?? 0) + 1);
    if (kind === "settle") charges.set(String(request), (charges.get(String(request)) ?? 0) + 1);
  }
  for (const [hold, count] of ends) expect(count, hold).toBe(1);
  for (const [request, count] of charges) expect(count, request).toBe(1);
}

function isNew(made: Json, load: Load): boolean {
  return Date.parse(String(made["create_time"])) >= load.startTimeMs;
}

function costOf(work: Work | undefined): bigint {
  if (work === undefined) return 0n;
  return BigInt(work.promptTokens) * PRICE.inputNanos + BigInt(encode(work.text).length) * PRICE.outputNanos;
}

/** The tokens that came since a moment. */
function tokensSince(call: Call, sinceMs: number): number {
  const before = call.reads.findLast(({ atMs }) => atMs < sinceMs)?.characters ?? 0;
  return encode(call.text).length - encode(call.text.slice(0, before)).length;
}
