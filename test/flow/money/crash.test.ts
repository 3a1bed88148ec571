/** A process killed at any moment loses nothing that it told, holds nothing, and overcharges nobody. */
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chat, deliveredText, postChat } from "../../support/chat-call.js";
import { tollgate } from "../../support/command.js";
import { type FakeScript, type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";
import { bySweep } from "../../support/sweep.js";
import { PRICE, settingsFor } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

/** What runs when the process dies, and when it dies. */
interface Moment {
  readonly name: string;
  readonly fake: FakeScript;
  /** Where the program kills itself; undefined where the test does. */
  readonly failpoint?: string;
  /** The test kills once this many characters came on each stream, or this many streams were whole. */
  readonly afterCharacters?: number;
  readonly afterWholeStreams?: number;
  /** True where each stream has told enough that a part of it must be charged. */
  readonly charged?: boolean;
}

/** So many words with their numbers, and a report of two tokens for each. */
const saying = (words: number): FakeScript => ({ words, usageIs: { completion_tokens: 2 * words } });
const LONG = { ...saying(900), eventDelayMs: 2 };
/** It stays in mid-stream until the process is killed. */
const HALF = { ...LONG, stallAfter: 500 };
const SHORT = saying(60);

const FIRST: Moment = { name: "before the first token", fake: { hang: true } };
const EVERY_TIME: readonly Moment[] = [
  FIRST,
  { name: "in mid-stream", fake: HALF, afterCharacters: 3_000, charged: true },
  { name: "as a hold is granted", fake: SHORT, failpoint: "after_hold_commit=kill:2" },
  { name: "as a request is admitted against a lease", fake: SHORT, failpoint: "after_admission=kill:9" },
  { name: "before a settlement", fake: SHORT, failpoint: "before_settle=kill:9" },
  { name: "after a settlement", fake: SHORT, failpoint: "after_settle_commit=kill:9" },
  { name: "before a commit", fake: SHORT, failpoint: "before_commit=kill:30" },
];
/** Beside those that lie next to them. */
const MORE: readonly Moment[] = [
  { name: "at the first token", fake: { ...saying(900), eventDelayMs: 300 }, afterCharacters: 1 },
  { name: "right at the end", fake: SHORT, afterWholeStreams: 1 },
  { name: "after many ends", fake: SHORT, afterWholeStreams: 40 },
  { name: "as a checkpoint is noted", fake: LONG, failpoint: "before_checkpoint=kill:9" },
  { name: "after a commit", fake: SHORT, failpoint: "after_commit=kill:30" },
];
const ALL = [...EVERY_TIME, ...MORE];
const MOMENTS = bySweep({ short: EVERY_TIME, long: ALL, all: ALL });

const STREAMS = 4;
const WHOLE_CALLS = 2;
const CALLS_MAX = 400;
/** Of what a client was told, at most 1,000 tokens are lost. */
const LOST_WORDS_MAX = 500;

describe.concurrent.each(MOMENTS)("a process killed $name", (moment) => {
  test(
    "loses nothing that it told, holds nothing, and charges no more than it delivered",
    { timeout: 400_000 },
    async () => {
      const upstream = await startFakeUpstream();
      const settings = settingsFor(upstream.url);
      const failpoints: Record<string, string> =
        moment.failpoint === undefined ? {} : { TOLLGATE_FAILPOINTS: moment.failpoint };
      const before = await startGateway({ settings, env: failpoints });
      const crash = new Crash(before, upstream, moment);
      await crash.run();

      const after = await startGateway({ settings, dataDirectory: before.dataDirectory });
      const management = new Management(after);
      await eventually(async () => (await management.balance("acme")).heldNanos === 0n, "no hold is left");
      await crash.expectKept(management);
      await expectEndedOnce(management);
      await crash.expectToldCharged(management);
      await crash.expectChargedAtMostDelivered(management);
      const balance = await management.balance("acme");
      expect(balance.availableNanos + balance.spentNanos).toBe(balance.grantedNanos);
      expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
      // The command asks for the same proof, so that one of them is enough.
      if (moment === FIRST) {
        const env = { TOLLGATE_GATEWAY: after.grpc, TOLLGATE_KEY: OPERATOR_KEY };
        expect(await tollgate(["ledger", "verify"], env)).toMatchObject({ code: 0, stderr: "" });
      }
      // The process that comes after serves and charges as before.
      expect((await postChat(after, crash.secret, chat("Hello"))).status).toBe(200);
      await after.stop();
      await upstream.close();
      rmSync(before.dataDirectory, { recursive: true });
    },
  );
});

test.concurrent(
  "a process killed while a model thinks in secret charges what was read",
  { timeout: 400_000 },
  async () => {
    const upstream = await startFakeUpstream();
    const settings = settingsFor(upstream.url);
    const before = await startGateway({ settings });
    const operator = new Management(before);
    await operator.account("acme", 10_000_000n);
    const { secret } = await operator.makeKey("acme");
    const body = chat(script({ stallAfter: 1 }), { stream: true });
    const asking = postChat(before, secret, body).catch(() => undefined);
    await upstream.waitFor((request) => request.method === "POST");
    // The timer of an attempt, which sees what thinks in secret, wakes each 5 s.
    let id = "";
    await eventually(async () => {
      const { requests } = (await operator.call("GET", "/requests")).body as { requests: Json[] };
      id = String(requests[0]?.["id"]);
      return requests[0] !== undefined && isNoted(requests[0]);
    }, "it is noted");
    await before.kill();
    await asking;

    const after = await startGateway({ settings, dataDirectory: before.dataDirectory });
    const management = new Management(after);
    await eventually(async () => (await management.balance("acme")).heldNanos === 0n, "no hold is left");
    const request = (await management.call("GET", `/requests/${id}`)).body["request"] as Json;
    expect(request).toMatchObject({ state: "settled", usage_source: "recovered" });
    const { input_tokens: input, output_tokens: output } = request["usage"] as Json;
    expect([Number(input) > 0, output]).toEqual([true, "0"]);
    const { spentNanos } = await management.balance("acme");
    expect(spentNanos).toBe(BigInt(String(input)) * PRICE.inputNanos);
    expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
    await after.stop();
    await upstream.close();
    rmSync(before.dataDirectory, { recursive: true });
  },
);

/** One stream as its client saw it. */
interface Seen {
  requestId: string;
  text: string;
}

/** A gateway under load until it dies, and everything that it acknowledged. */
class Crash {
  secret = "";
  readonly #management: Management;
  readonly #entries = new Map<string, Json>();
  readonly #credits: string[] = [];
  readonly #streams: Seen[] = [];
  /** The requests whose answers came whole. */
  readonly #told: string[] = [];
  #wholeStreams = 0;
  #dead = false;

  constructor(
    private readonly gateway: GatewayProcess,
    private readonly upstream: FakeUpstream,
    private readonly moment: Moment,
  ) {
    this.#management = new Management(gateway);
  }

  async run(): Promise<void> {
    await this.#management.account("acme", 10_000_000_000n);
    this.secret = (await this.#management.makeKey("acme")).secret;
    const settled = await postChat(this.gateway, this.secret, chat("Hello"));
    expect(settled.status).toBe(200);
    await eventually(
      async () => (await this.#management.balance("acme")).spentNanos === 500n,
      "the first call is paid",
    );

    // What was never looked at cannot be seen to stay, and some moments come at once.
    for (const entry of await entriesOf(this.#management)) this.#entries.set(String(entry["id"]), entry);
    const load = [this.#credit(), this.#look()];
    for (let client = 0; client < STREAMS; client++) load.push(this.#ask(true));
    for (let client = 0; client < WHOLE_CALLS; client++) load.push(this.#ask(false));
    if (this.moment.failpoint === undefined) await this.#killAtMoment();
    else await eventually(() => !isAlive(this.gateway.pid), "the failpoint is reached");
    this.#dead = true;
    await Promise.all(load);
  }

  async #killAtMoment(): Promise<void> {
    const { afterCharacters, afterWholeStreams } = this.moment;
    const arrived = (): boolean => {
      if (afterWholeStreams !== undefined) return this.#wholeStreams >= afterWholeStreams;
      const told = this.#streams.filter((seen) => deliveredText(lines(seen.text)).length >= (afterCharacters ?? 0));
      const asked = this.upstream.requests.length >= 1 + STREAMS + WHOLE_CALLS;
      // What was never looked at cannot be seen to stay.
      const looked = this.#entries.size > 2;
      return looked && asked && (afterCharacters === undefined || told.length >= STREAMS);
    };
    await eventually(arrived, "the moment comes");
    // Of what was told the last second alone may be lost.
    if (this.moment.charged) await eventually(() => this.#areNoted(), "all streams are noted");
    await this.gateway.kill();
  }

  async #areNoted(): Promise<boolean> {
    const bodies = this.#streams.map(({ requestId }) => this.#management.call("GET", `/requests/${requestId}`));
    return (await Promise.all(bodies)).every(({ body }) => isNoted(Object(body["request"]) as Json));
  }

  /** Credits one after another; an answer is an acknowledgement. */
  async #credit(): Promise<void> {
    for (let credit = 1; credit <= CALLS_MAX && !this.#dead; credit++) {
      const id = `while-${credit}`;
      const done = await this.#management
        .call("POST", "/accounts/acme:credit", { amount_nanos: "7", credit_id: id })
        .catch(() => undefined);
      if (done?.status !== 200) return;
      this.#credits.push(id);
    }
  }

  /** Looks at the entries; what was shown once must stay. */
  async #look(): Promise<void> {
    while (!this.#dead) {
      const shown = await entriesOf(this.#management).catch(() => []);
      for (const entry of shown) this.#entries.set(String(entry["id"]), entry);
      await pace(60);
    }
  }

  /** Calls one after another, until the gateway is gone. */
  async #ask(stream: boolean): Promise<void> {
    const body = chat(script(this.moment.fake), stream ? { stream } : {});
    for (let call = 0; call < CALLS_MAX && !this.#dead; call++) {
      const response = await postChat(this.gateway, this.secret, body).catch(() => undefined);
      if (response === undefined) return;
      const requestId = response.headers.get("x-request-id") ?? "";
      if (!stream) {
        const text = await response.text().catch(() => "");
        if (response.status === 200 && text.endsWith("}")) this.#told.push(requestId);
        continue;
      }
      const seen: Seen = { requestId, text: "" };
      this.#streams.push(seen);
      await follow(response, seen);
      if (!seen.text.includes("data: [DONE]")) continue;
      this.#wholeStreams += 1;
      this.#told.push(requestId);
    }
  }

  async expectKept(management: Management): Promise<void> {
    const entries = new Map((await entriesOf(management)).map((entry) => [String(entry["id"]), entry]));
    expect(this.#entries.size).toBeGreaterThan(2);
    for (const [id, entry] of this.#entries) expect(entries.get(id), id).toEqual(entry);
    for (const id of this.#credits) expect(entries.has(`c:${id}`), id).toBe(true);
  }

  /** What a client was told the whole of is charged whole, and all views say so. */
  async expectToldCharged(management: Management): Promise<void> {
    const free: string[] = [];
    for (const id of this.#told) {
      const { body } = await management.call("GET", `/requests/${id}`);
      const { state, charged_nanos: charged } = Object(body["request"]) as Json;
      const kinds = (body["entries"] as Json[] | undefined)?.map(({ kind }) => String(kind)).join();
      if (state === "settled" && charged !== "0" && kinds === "hold,settle") continue;
      free.push(`${id} of ${this.#told.length}: ${String(state)} ${String(charged)} ${kinds}`);
    }
    expect(free).toEqual([]);
  }

  async expectChargedAtMostDelivered(management: Management): Promise<void> {
    let charged = 0;
    for (const { requestId, text } of this.#streams) {
      const { body } = await management.call("GET", `/requests/${requestId}`);
      const words = wordsOf(text);
      const record = body["request"] as Json | undefined;
      if (record === undefined) {
        // It was admitted against a lease, and died before its hold was written: no more than any death loses.
        expect(words).toBeLessThanOrEqual(LOST_WORDS_MAX);
        continue;
      }
      const cost = BigInt(String(record["cost_nanos"]));
      if (cost > 0n) charged += 1;
      if (record["usage_source"] === "reported") {
        // These came to their end, whatever the client still saw of it.
        expect(cost).toBe(10n * PRICE.inputNanos + BigInt(2 * (this.moment.fake.words ?? 0)) * PRICE.outputNanos);
        continue;
      }
      // One that came to its end, whose report says less than its words, is counted whole.
      const isCounted = record["usage_source"] === "counted";
      const most = isCounted ? (this.moment.fake.words ?? words) : words;
      // A word such as " word123" is at most two tokens.
      const mostNanos = 10n * PRICE.inputNanos + BigInt(2 * most) * PRICE.outputNanos;
      expect(cost <= mostNanos, `${requestId}: ${cost} for ${most} words`).toBe(true);
      if (cost > 0n && !isCounted) expect(record["usage_source"]).toBe("recovered");
    }
    if (this.moment.charged) expect(charged).toBe(this.#streams.length);
  }
}

/** True once the ledger has a note of what came: before that a request tells nothing of its attempts. */
function isNoted({ attempt_log: log }: Json): boolean {
  return Array.isArray(log) && log.length > 0;
}

async function follow(response: Response, seen: Seen): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) seen.text += decoder.decode(bytes as Uint8Array, { stream: true });
  } catch {
    // The gateway died.
  }
}

/** Every hold has exactly one end. */
async function expectEndedOnce(management: Management): Promise<void> {
  const holds = new Map<string, number>();
  for (const entry of await entriesOf(management)) {
    const request = String(entry["request_id"]);
    if (entry["kind"] === "hold") holds.set(request, holds.get(request) ?? 0);
    else if (/^(settle|void|expire)$/.test(String(entry["kind"]))) holds.set(request, (holds.get(request) ?? 0) + 1);
  }
  expect(holds.size).toBeGreaterThan(1);
  for (const [request, ends] of holds) expect(ends, request).toBe(1);
}

async function entriesOf(management: Management): Promise<Json[]> {
  const entries: Json[] = [];
  for (let token = ""; ;) {
    const { body } = await management.call("GET", `/accounts/acme/entries?page_size=1000&page_token=${token}`);
    entries.push(...(body["entries"] as Json[]));
    token = String(body["next_page_token"]);
    if (token === "") return entries;
  }
}

/** What comes within a second where nothing else runs. Most here die and start beside each other. */
async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within two minutes: ${what}`);
    await pace(20);
  }
}

function wordsOf(text: string): number {
  const words = deliveredText(lines(text)).split(" ");
  return words.filter((word) => word !== "").length;
}

function lines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
