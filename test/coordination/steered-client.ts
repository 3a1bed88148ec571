/** A client of Redis whose commands meet what a test decides, as on a network that loses and delays. */
import { setImmediate as turn } from "node:timers/promises";
import { type Client, createClient } from "../../src/coordination/redis-client.js";

/** Its answer comes; is lost; it lands when the network lets it, and nobody hears of it; or it never lands. */
export type Fate = "answered" | "unanswered" | "late" | "lost";

type Command = (string | number)[];

export class SteeredClient {
  readonly client: Client;
  #fate: Fate = "answered";
  readonly #held: Command[] = [];
  readonly #running = new Set<Promise<unknown>>();
  readonly #real: Client;

  /** `onLand` hears the arguments of each script when it takes effect. */
  constructor(
    url: string,
    private readonly nowMs: () => number,
    private readonly onLand: (args: readonly (string | number)[]) => void,
  ) {
    const { hostname, port } = new URL(url);
    const hosts = [{ host: hostname, port: Number(port) }];
    this.#real = createClient({ kind: "single", hosts, database: 0, commandMs: 20_000 }, "test steers");
    this.client = new Proxy(this.#real, {
      get: (target, name) => {
        if (name === "call") return (...command: Command) => this.#call(command);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** Runs something whose commands meet this fate. */
  async meet<Value>(fate: Fate, run: () => Promise<Value>): Promise<Value> {
    this.#fate = fate;
    const value = await run();
    await this.quiet();
    this.#fate = "answered";
    return value;
  }

  /** All commands from now on are lost, until `answer`. */
  lose(): void {
    this.#fate = "lost";
  }

  answer(): void {
    this.#fate = "answered";
  }

  /** What is on its way arrives, in order. */
  async land(): Promise<void> {
    for (const command of this.#held.splice(0)) await this.#send(command);
  }

  /** Resolves when nothing is waited for. */
  async quiet(): Promise<void> {
    do {
      await Promise.allSettled(this.#running);
      await turn();
    } while (this.#running.size > 0);
  }

  #call(command: Command): Promise<unknown> {
    const running = this.#meet(command);
    this.#running.add(running);
    const over = (): unknown => this.#running.delete(running);
    running.then(over, over);
    return running;
  }

  async #meet(command: Command): Promise<unknown> {
    if (this.#fate === "answered") return this.#send(command);
    if (this.#fate === "unanswered") await this.#send(command);
    if (this.#fate === "late") this.#held.push(command);
    throw new Error("no answer came");
  }

  async #send(command: Command): Promise<unknown> {
    // The name, the script, how many keys, the keys, the time, and what the node asks. Time is that of the landing.
    const timeAt = 3 + Number(command[2]);
    const [name = "", ...rest] = command.with(timeAt, this.nowMs());
    // Where the script is not known there yet this throws: it had no effect, and a node sends it whole.
    const answer = await this.#real.call(String(name), ...rest);
    this.onLand(command.slice(timeAt + 1));
    return answer;
  }
}

/** Listens to Redis, and is told nothing. */
export function hearingNothing(url: string): Client {
  const { hostname, port } = new URL(url);
  const hosts = [{ host: hostname, port: Number(port) }];
  const real = createClient({ kind: "single", hosts, database: 0 }, "test hears nothing");
  return new Proxy(real, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = (...values: unknown[]): unknown => value.apply(target, values) as unknown;
      return name === "on" ? (...values: unknown[]) => (values[0] === "message" ? real : call(...values)) : call;
    },
  });
}
