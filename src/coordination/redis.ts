/** What nodes share, in Redis: it may be lost at any time, and nothing of it is money. */
import { randomBytes } from "node:crypto";
import type { Relays } from "../api/relays.js";
import { Breaker, type Trouble } from "./redis-breaker.js";
import {
  type AdmissionRequest,
  type AdmissionResult,
  type Admitted,
  CallerChanged,
  type CoolDown,
  type UpstreamOrder,
  type Coordination,
  type CoordinationState,
  type Demand,
  type Revisions,
} from "./coordination.js";
import { parseCoolDown, parseOrder } from "./cool-down.js";
import { HeldSlots } from "./held-slots.js";
import { LocalShare } from "./local-share.js";
import { PieceRelays } from "./piece-relays.js";
import { type Client, connect } from "./redis-client.js";
import { admissionPart, admissionResult, KeyNames } from "./redis-parts.js";
import { type Answer, RedisPipe } from "./redis-pipe.js";
import { redisGround } from "./redis-relays.js";
import { UnpublishedChanges } from "./unpublished-changes.js";

export interface RedisOptions {
  readonly client: Client;
  /** Hears what others publish; it is no other's, and is closed with this. */
  readonly listener: Client;
  /** True where keys of different accounts may lie on different nodes of Redis. */
  readonly isCluster: boolean;
  readonly monotonicMs: () => number;
  /** Before all names of keys and channels. Default: `tollgate:`. */
  readonly prefix?: string | undefined;
  /** The time that windows go by, for tests. Default: the server's own. */
  readonly serverMs?: (() => number) | undefined;
  /** When an answer is late. Default: 45 milliseconds, so that 50 of network alone are late too. */
  readonly slowMs?: number | undefined;
  /** When it is not waited for any more, and this node decides for itself. Default: 250 milliseconds. */
  readonly giveUpMs?: number | undefined;
  /** How often this node looks after what it holds; 0: only `tick` does. Default: half a second. */
  readonly tickMs?: number | undefined;
  readonly events?: Partial<RedisEvents> | undefined;
}

/** For logs and metrics. */
export interface RedisEvents {
  /** The breaker opened, or closed where the trouble is undefined. */
  breaker(trouble: Trouble | undefined): void;
  answered(tookMs: number): void;
  failed(error: unknown): void;
  /** This node decided by its own share. */
  decidedAlone(): void;
}

export interface RedisCoordination extends Coordination {
  readonly relays: Relays;
  /** Renews what this node holds, and asks whether Redis is well again. Runs by itself where `tickMs` is not 0. */
  tick(): void;
  /** Renews the slots of all running requests. */
  heartbeat(): void;
}

const PREFIX = "tollgate:";
const SLOW_MS = 45;
const GIVE_UP_MS = 250;
const TICK_MS = 500;
/** In ticks: how often a node says that it is there, and renews its slots. */
const NODE_TICKS = 10;
const BEAT_TICKS = 20;
const NODE_TTL_MS = 15_000;
/** Where everything may lie on one node of Redis, all of a turn goes in one command. */
const ONE_SLOT = "";

/**
 * Begins to share. Resolves also where Redis cannot be reached, and goes on trying; rejects where an operator must mend
 * something.
 */
export async function startRedisCoordination(options: RedisOptions): Promise<RedisCoordination> {
  const coordination = new Shared(options);
  try {
    await coordination.start();
    return coordination;
  } catch (error) {
    await coordination.close();
    throw error;
  }
}

class Shared implements RedisCoordination {
  readonly isShared = true;
  readonly relays: PieceRelays;
  readonly #options: RedisOptions;
  readonly #names: KeyNames;
  readonly #breaker: Breaker;
  readonly #pipe: RedisPipe;
  readonly #local: LocalShare;
  readonly #held = new HeldSlots();
  readonly #untold: UnpublishedChanges;
  readonly #callbacks: ((name: string | undefined) => void)[] = [];
  readonly #coolDownCallbacks: ((coolDown: CoolDown) => void)[] = [];
  readonly #orderCallbacks: ((order: UpstreamOrder) => void)[] = [];
  readonly #nodeId = randomBytes(9).toString("base64url");
  #words = 0;
  #ticks = 0;
  #nodeCount = 1;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RedisOptions) {
    const { client, listener, monotonicMs, events } = options;
    this.#options = options;
    this.#names = new KeyNames(options.prefix ?? PREFIX);
    this.#breaker = new Breaker((trouble) => this.#changed(trouble));
    this.#local = new LocalShare(monotonicMs);
    this.#untold = new UnpublishedChanges(monotonicMs);
    this.#pipe = new RedisPipe({
      client,
      breaker: this.#breaker,
      monotonicMs,
      slowMs: options.slowMs ?? SLOW_MS,
      giveUpMs: options.giveUpMs ?? GIVE_UP_MS,
      serverMs: options.serverMs ?? (() => 0),
      onAnswer: (tookMs) => events?.answered?.(tookMs),
      onFailure: (error) => events?.failed?.(error),
    });
    const ground = redisGround({
      nodeId: this.#nodeId,
      names: this.#names,
      monotonicMs,
      isWell: () => this.#breaker.trouble === undefined,
      send: (accountId, key, args, answer) => this.#pipe.send(this.#slotOf(accountId), [key], args, answer),
      publish: (channel, message) => void this.#ask(channel, ["E", message]),
      admit: (request) => this.admit(request),
      release: (accountId, subject, requestId) => this.release(accountId, subject, requestId),
    });
    this.relays = new PieceRelays(ground);
    client.on("error", (error: unknown) => events?.failed?.(error));
    listener.on("error", () => undefined);
  }

  async start(): Promise<void> {
    const { client, tickMs = TICK_MS } = this.#options;
    const failure = await connect(client);
    if (failure !== undefined) {
      this.#options.events?.failed?.(failure);
      this.#breaker.failed(this.#breaker.sent());
    }
    this.#listen();
    if (tickMs > 0) this.#timer = setInterval(() => this.tick(), tickMs).unref();
    if (failure === undefined) await this.#sayThere();
  }

  state(): CoordinationState {
    return { driver: "redis", degraded: this.#breaker.trouble, nodeCount: this.#nodeCount };
  }

  admit(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult> {
    return this.#decide(request, "admit");
  }

  peek(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult> {
    return this.#decide(request, "peek");
  }

  correct(accountId: string, subject: string, admitted: Admitted, reserved: number, used: number): void {
    if (admitted.degraded === true) this.#local.correct(accountId, subject, admitted, reserved, used);
    else {
      const key = this.#names.tokens(this.#names.account(accountId), subject);
      this.#tell(accountId, key, ["C", admitted.admittedAtMs, used - reserved]);
    }
  }

  release(accountId: string, subject: string, requestId: string): void {
    this.#local.release(accountId, subject, requestId);
    const key = this.#names.slots(this.#names.account(accountId), subject);
    if (this.#held.release(key, requestId)) this.#tell(accountId, key, ["R", requestId]);
  }

  revisionsOf(accountId: string, names: readonly string[]): Promise<Revisions | undefined> {
    if (this.#breaker.trouble !== undefined) return Promise.resolve(undefined);
    const keys = names.map((name) => this.#names.revision(accountId, name));
    return new Promise((resolve) => {
      this.#pipe.send(this.#slotOf(accountId), keys, ["W", keys.length, this.#newWord()], (answer) => {
        resolve(Array.isArray(answer) ? { names, words: answer.map(String) } : undefined);
      });
    });
  }

  async publishRevision(accountId: string, name: string): Promise<void> {
    for (const callback of this.#callbacks) callback(name);
    // Until it is told it is tried again, for as long as another node may believe what it remembers.
    this.#untold.add(accountId, name);
    if (!(await this.#publish(accountId, name))) throw new Error("Redis could not be told of a change");
  }

  onRevision(callback: (name: string | undefined) => void): void {
    this.#callbacks.push(callback);
  }

  publishCoolDown(coolDown: CoolDown): void {
    if (this.#breaker.trouble !== undefined) return;
    void this.#ask(this.#names.coolDowns, ["E", `${this.#nodeId} ${JSON.stringify(coolDown)}`]);
  }

  publishOrder(order: UpstreamOrder): void {
    void this.#ask(this.#names.orders, ["E", `${this.#nodeId} ${JSON.stringify(order)}`]);
  }

  onOrder(callback: (order: UpstreamOrder) => void): void {
    this.#orderCallbacks.push(callback);
  }

  onCoolDown(callback: (coolDown: CoolDown) => void): void {
    this.#coolDownCallbacks.push(callback);
  }

  heartbeat(): void {
    const { monotonicMs } = this.#options;
    for (const { slot, key, renewals } of this.#held.beats(monotonicMs()))
      this.#pipe.send(slot, [key], ["B", renewals.length / 2, ...renewals], () => undefined);
  }

  tick(): void {
    this.#ticks += 1;
    const isWell = this.#breaker.trouble === undefined;
    this.relays.tick();
    // Where it is not well, this asks whether it is again.
    if (!isWell || this.#ticks % NODE_TICKS === 0) void this.#sayThere();
    if (!isWell) return;
    // A connection that only listens would not learn that it leads nowhere.
    if (this.#ticks % NODE_TICKS === 0) this.#options.listener.ping().catch(() => undefined);
    if (this.#ticks % BEAT_TICKS === 0) this.heartbeat();
    for (const { accountId, name } of this.#untold) void this.#publish(accountId, name);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.relays.close();
    const { client, listener } = this.#options;
    if (this.#breaker.trouble === undefined && client.status === "ready")
      await this.#ask(this.#names.nodes, ["R", this.#nodeId]);
    client.disconnect();
    listener.disconnect();
    await this.#local.close();
  }

  #decide(request: AdmissionRequest, act: "admit" | "peek"): AdmissionResult | Promise<AdmissionResult> {
    if (this.#breaker.trouble !== undefined) return this.#decideAlone(request, act);
    const takes = act === "admit";
    const { keys, args, words } = admissionPart(takes ? "A" : "P", request, this.#names);
    return new Promise((resolve, reject) => {
      const decide = (answer: Answer): void => {
        try {
          // Without an answer, a slot may have been taken there: it is given back with the request.
          if (takes) this.#hold(request, answer);
          if (answer === undefined) return resolve(this.#decideUnanswered(request, act));
          const result = admissionResult(answer, request, takes);
          if (result === undefined) reject(new CallerChanged());
          else resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      this.#pipe.send(this.#slotOf(request.accountId), keys, args, decide, words);
    });
  }

  #decideAlone(request: AdmissionRequest, act: "admit" | "peek"): AdmissionResult {
    this.#options.events?.decidedAlone?.();
    return this.#local.decide(act, request, this.#nodeCount);
  }

  /** What Redis was asked, it may have taken: of what is refused here nothing may stay there. */
  #decideUnanswered(request: AdmissionRequest, act: "admit" | "peek"): AdmissionResult {
    const result = this.#decideAlone(request, act);
    if (result.admitted || act === "peek") return result;
    const { requestId, accountId, first = [], demands } = request;
    for (const { subject } of result.firstTaken ? demands : [...first, ...demands])
      this.release(accountId, subject, requestId);
    return result;
  }

  /** Remembers the slots that the request has now, or may have. */
  #hold({ requestId, accountId, first = [], demands }: AdmissionRequest, answer: Answer): void {
    const passed = Array.isArray(answer) ? Number(answer[2] ?? 0) : 2;
    const account = this.#names.account(accountId);
    const nowMs = this.#options.monotonicMs();
    const hold = ({ subject, limits }: Demand): void => {
      if (limits.concurrency === 0) return;
      this.#held.take(this.#slotOf(accountId), this.#names.slots(account, subject), requestId, nowMs);
    };
    if (passed >= 1) first.forEach(hold);
    if (passed >= 2) demands.forEach(hold);
  }

  /** What is told while Redis is away is lost, and a window then holds too much for a minute at most. */
  #tell(accountId: string, key: string, args: (string | number)[]): void {
    if (this.#breaker.trouble === undefined) this.#pipe.send(this.#slotOf(accountId), [key], args, () => undefined);
  }

  async #publish(accountId: string, name: string): Promise<boolean> {
    if (this.#breaker.trouble !== undefined) return false;
    const key = this.#names.revision(accountId, name);
    const args = ["U", this.#newWord(), this.#names.changes, `${this.#nodeId} ${name}`];
    const answer = await new Promise<Answer>((resolve) =>
      this.#pipe.send(this.#slotOf(accountId), [key], args, resolve),
    );
    if (answer === undefined) return false;
    this.#untold.delete(accountId, name);
    return true;
  }

  /** Says that this node is there, and learns how many are. */
  async #sayThere(): Promise<void> {
    const count = await this.#ask(this.#names.nodes, ["N", this.#nodeId, NODE_TTL_MS]);
    if (typeof count === "number") this.#nodeCount = Math.max(1, count);
  }

  #ask(key: string, args: (string | number)[]): Promise<Answer> {
    return new Promise((resolve) => this.#pipe.send(this.#slotFor(key), [key], args, resolve));
  }

  /** Hears of what others change; where some word may have been missed, anything may have changed. */
  #listen(): void {
    const { listener } = this.#options;
    const { changes, coolDowns, orders, asks } = this.#names;
    const own = this.#names.node(this.#nodeId);
    listener.on("ready", () => {
      void listener.subscribe(changes, coolDowns, orders, asks, own).then(
        () => this.#heard(undefined),
        () => undefined,
      );
    });
    listener.on("message", (channel: string, message: string) => {
      const space = message.indexOf(" ");
      const nodeId = message.slice(0, space);
      if (nodeId === this.#nodeId) return;
      const told = message.slice(space + 1);
      if (channel === changes) this.#heard(told);
      else if (channel === own) this.relays.noticed(nodeId, told);
      else if (channel === asks) this.relays.asked(nodeId, told);
      const coolDown = channel === coolDowns ? parseCoolDown(told) : undefined;
      if (coolDown !== undefined) for (const callback of this.#coolDownCallbacks) callback(coolDown);
      const order = channel === orders ? parseOrder(told) : undefined;
      if (order !== undefined) for (const callback of this.#orderCallbacks) callback(order);
    });
    // Where it fails it goes on trying by itself.
    listener.connect().catch(() => undefined);
  }

  #heard(name: string | undefined): void {
    for (const callback of this.#callbacks) callback(name);
  }

  #changed(trouble: Trouble | undefined): void {
    this.#options.events?.breaker?.(trouble);
    if (trouble !== undefined || this.#isClosed) return;
    // What running requests have taken must be there again, also in a Redis that begins anew.
    this.heartbeat();
    this.#heard(undefined);
  }

  #newWord(): string {
    return `${this.#nodeId}${(this.#words++).toString(36)}`;
  }

  #slotOf(accountId: string): string {
    return this.#options.isCluster ? this.#names.account(accountId) : ONE_SLOT;
  }

  #slotFor(key: string): string {
    return this.#options.isCluster ? key : ONE_SLOT;
  }
}
