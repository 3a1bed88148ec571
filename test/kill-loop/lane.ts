/** One gateway and its data, killed again and again: each start is checked, put under load, and dies. */
import { rmSync } from "node:fs";
import { expect } from "vitest";
import { tollgate } from "../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway, type StartOptions } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { Load, pause } from "./load.js";
import { type Death, nameOf } from "./plan.js";
import { Reckoning, type Tally } from "./reckoning.js";
import { type HonestUpstream, startHonestUpstream } from "./upstream.js";

const ACCOUNT = "acme";
const CREDIT_NANOS = 1_000_000_000_000n;
/** How long a hold may outlive its process, ten times over: the machine has other work. */
const RESOLVE_MS_MAX = 200_000;

/** A failpoint is given this long to act before the process is killed all the same. */
const PATIENCE_MS = 10_000;
/** What acts while a start is checked has so long before that start is a death. */
const STUCK_MS = 5_000;
const WATCH_MS = 100;

/** How often each failpoint acted, by `name=action`. */
export type Reached = Map<string, number>;

/** Its upstream says only what money needs, so that its answers are less than the SDKs declare. */
async function startLane(options: StartOptions): Promise<GatewayProcess> {
  const gateway = await startGateway(options);
  gateway.expectOddAnswers();
  return gateway;
}

export class Lane {
  readonly #name: string;
  readonly #upstream: HonestUpstream;
  readonly #directory: string;
  readonly #secret: string;
  readonly #tally: Tally;
  readonly #reached: Reached;
  /** What ran when the process died last. */
  #last: { readonly load: Load; readonly death: Death } | undefined;
  #deaths = 0;

  private constructor(name: string, upstream: HonestUpstream, first: GatewayProcess, secret: string, rest: Shared) {
    this.#name = name;
    this.#upstream = upstream;
    this.#directory = first.dataDirectory;
    this.#secret = secret;
    this.#tally = rest.tally;
    this.#reached = rest.reached;
  }

  static async open(name: string, shared: Shared): Promise<Lane> {
    const upstream = await startHonestUpstream();
    const first = await startLane({ settings: settingsFor(upstream.url) });
    const management = new Management(first);
    await management.account(ACCOUNT, CREDIT_NANOS);
    const { secret } = await management.makeKey(ACCOUNT);
    await first.kill();
    return new Lane(name, upstream, first, secret, shared);
  }

  /** Where its data is. */
  get directory(): string {
    return this.#directory;
  }

  /** One death. Resolves once the process is gone; rejects with what was wrong after the death before it. */
  async die(death: Death): Promise<void> {
    const { failpoint, action, fromPass } = death;
    const armed = failpoint === undefined ? {} : { TOLLGATE_FAILPOINTS: `${failpoint}=${action}:${fromPass}` };
    const gateway = await this.#start(armed).catch((error: unknown) => this.#diedAtStart(death, error));
    if (gateway === undefined) return;
    const watch = killWhereStuck(gateway, death);
    try {
      await this.#check(gateway);
    } catch (error) {
      await gateway.kill();
      // What recovery and leases write on a slow machine may reach the failpoint before the check has asked all: that
      // is a death too, whether it ended the process or what it wrote, and the next start checks what this one did not.
      if (!hasActed(death, gateway.told.join("\n"))) throw error;
      this.#noteReached(death, gateway.told.join("\n"));
      return;
    } finally {
      clearInterval(watch);
    }
    this.#deaths += 1;
    this.#upstream.forget();
    const name = `${this.#name}-${this.#deaths}`;
    const load = new Load({ gateway, secret: this.#secret, account: ACCOUNT, name });
    await load.run(gone(gateway, death));
    this.#last = { load, death };
    this.#noteReached(death, gateway.told.join("\n"));
  }

  /** The last start, which no failpoint disturbs, and the whole proof. */
  async close(): Promise<void> {
    const gateway = await this.#start({});
    try {
      await this.#prove(gateway);
    } catch (error) {
      await gateway.kill();
      throw error;
    }
    expect(await gateway.stop()).toBe(0);
    await this.#upstream.close();
    rmSync(this.#directory, { recursive: true });
  }

  async #prove(gateway: GatewayProcess): Promise<void> {
    await this.#check(gateway);
    const env = { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: OPERATOR_KEY };
    expect(await tollgate(["ledger", "verify"], env)).toMatchObject({ code: 0, stderr: "" });
    expect(await new Management(gateway).verify()).toMatchObject({ open_hold_count: "0" });
  }

  /** What is left of it after a problem: its data stays, to be looked at. */
  async abandon(): Promise<void> {
    await this.#upstream.close();
  }

  #start(env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
    return startLane({ settings: settingsFor(this.#upstream.url), dataDirectory: this.#directory, env });
  }

  /** A failpoint of the recovery acts before the gateway serves; another start must do what that one did not. */
  #diedAtStart(death: Death, error: unknown): undefined {
    if (!hasActed(death, String(error))) throw error;
    this.#noteReached(death, String(error));
    return undefined;
  }

  #noteReached(death: Death, told: string): void {
    if (death.failpoint !== undefined && !hasActed(death, told)) return;
    const name = nameOf(death);
    this.#reached.set(name, (this.#reached.get(name) ?? 0) + 1);
  }

  /** Checks what the death before left. */
  async #check(gateway: GatewayProcess): Promise<void> {
    const management = new Management(gateway);
    const startMs = performance.now();
    while ((await management.balance(ACCOUNT)).heldNanos > 0n) {
      if (performance.now() - startMs > RESOLVE_MS_MAX)
        throw new Error(`${this.#name}: a hold is left after ${RESOLVE_MS_MAX / 1_000} s`);
      await pause(20);
    }
    this.#tally.resolveMsMost = Math.max(this.#tally.resolveMsMost, Math.round(performance.now() - startMs));
    if (this.#last === undefined) return;
    const { load, death } = this.#last;
    try {
      await new Reckoning(ACCOUNT, management, this.#upstream, this.#tally).check(load, death);
    } catch (error) {
      throw new Error(`after ${JSON.stringify(death)}: ${String(error)}`, { cause: error });
    }
    this.#last = undefined;
  }
}

/** What all lanes add to. */
export interface Shared {
  readonly tally: Tally;
  readonly reached: Reached;
}

/** Resolves once the process is gone: by itself, or killed a while after its failpoint acted. */
async function gone(gateway: GatewayProcess, death: Death): Promise<void> {
  const isAwaited = death.failpoint !== undefined;
  let endMs = performance.now() + (isAwaited ? PATIENCE_MS : death.afterMs);
  let acted = !isAwaited;
  while (isAlive(gateway.pid)) {
    const nowMs = performance.now();
    if (nowMs >= endMs) break;
    if (!acted && gateway.told.some((line) => hasActed(death, line))) {
      acted = true;
      endMs = nowMs + death.afterMs;
    }
    await pause(5);
  }
  // Where it is gone by itself, this waits for what it said last.
  await gateway.kill();
}

/** Every write of a gateway may stall from its start on: it is killed where it cannot be checked in good time. */
function killWhereStuck(gateway: GatewayProcess, death: Death): NodeJS.Timeout {
  let actedMs = Infinity;
  const watch = setInterval(() => {
    const nowMs = performance.now();
    if (actedMs === Infinity && hasActed(death, gateway.told.join("\n"))) actedMs = nowMs;
    if (nowMs - actedMs <= STUCK_MS) return;
    clearInterval(watch);
    void gateway.kill();
  }, WATCH_MS);
  return watch;
}

/** True where the gateway told that the death's failpoint acted. */
function hasActed(death: Death, told: string): boolean {
  return told.includes(`failpoint ${nameOf(death)}`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function settingsFor(upstreamUrl: string): string {
  return [
    "upstreams:",
    `  honest: { family: openai-compatible, base_url: "${upstreamUrl}" }`,
    "models:",
    `  broken-1: { targets: [{ upstream: honest, model: broken }], context_tokens: 200000, output_tokens_max: 50000, price: { input: "0.03", output: "0.3" }, fallbacks: [kill-1] }`,
    `  kill-1: { targets: [{ upstream: honest }], context_tokens: 200000, output_tokens_max: 50000, price: { input: "0.01", output: "0.1" } }`,
    "",
  ].join("\n");
}
