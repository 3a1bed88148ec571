/** Clients that call until the gateway dies, and remember everything that they were told. */
import type { GatewayProcess } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { postChat } from "../support/chat-call.js";
import type { Task } from "./upstream.js";

export type Json = Readonly<Record<string, unknown>>;

/** One call as its client saw it. */
export interface Call {
  /** What names it at the upstream. */
  readonly user: string;
  readonly task: Task;
  readonly stream: boolean;
  /** Undefined where no head came. */
  requestId: string | undefined;
  text: string;
  /** How long the text was at each read. */
  readonly reads: { readonly atMs: number; readonly characters: number }[];
  /** True where the answer came to its end. */
  whole: boolean;
}

/** Calls that take their time, and are in their middle whenever the process dies. */
const LONG: readonly Task[] = [
  { language: "english", words: 20_000, eventWords: 8, eventMs: 40 },
  { language: "chinese", words: 20_000, eventWords: 8, eventMs: 40 },
  { language: "code", words: 20_000, eventWords: 8, eventMs: 40 },
];
/** Calls that come and go; the last is longer than what is told before it is settled. */
const SHORT: readonly Task[] = [
  { language: "english", words: 40, eventWords: 4, eventMs: 1 },
  { language: "chinese", words: 40, eventWords: 4, eventMs: 1 },
  { language: "code", words: 700, eventWords: 50, eventMs: 2 },
];
const WHOLE: readonly Task[] = [
  { language: "english", words: 30, eventWords: 30, eventMs: 5 },
  { language: "code", words: 600, eventWords: 600, eventMs: 20 },
];
const CALLS_MAX = 1_000;
const TICK_MS = 50;
const LOOK_EVERY_MS = 100;
const CREDIT_EVERY_MS = 20;
export const CREDIT_NANOS = 7n;

export interface LoadOptions {
  readonly gateway: GatewayProcess;
  readonly secret: string;
  readonly account: string;
  /** What tells this load's calls and credits from those of others. */
  readonly name: string;
}

export class Load {
  readonly calls: Call[] = [];
  /** Credits that were acknowledged, and those that were sent. */
  readonly credited: string[] = [];
  creditsSent = 0;
  /** Entries that were shown, by id. */
  readonly shown = new Map<string, Json>();
  diedMs = Infinity;
  /** How late a timer of ours was at most: those of the gateway, on the same machine, are as late. */
  lateMsMost = 0;
  /** How long a credit, which waits for its commit, took at most: what a checkpoint waits for behind its time. */
  commitMsMost = 0;
  #tickMs = performance.now();
  readonly startTimeMs = Date.now();
  readonly #options: LoadOptions;
  readonly #management: Management;
  #dead = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#management = new Management(options.gateway);
  }

  /** Runs until `died` resolves, and until each client has seen that. */
  async run(died: Promise<void>): Promise<void> {
    const clients = [
      ...[...LONG, ...SHORT].map((task) => this.#callOn(task, true)),
      ...WHOLE.map((task) => this.#callOn(task, false)),
      this.#credit(),
      this.#look(),
    ];
    const watching = setInterval(() => this.#noteLateness(), TICK_MS);
    await died;
    const goneMs = performance.now();
    this.#dead = true;
    await Promise.all(clients);
    clearInterval(watching);
    // It is seen to be gone some time after it died: the last bytes that it sent say better when that was.
    const lastReadMs = Math.max(...this.calls.map(({ reads }) => reads.at(-1)?.atMs ?? -Infinity));
    this.diedMs = Math.min(goneMs, Number.isFinite(lastReadMs) ? lastReadMs : goneMs);
  }

  #noteLateness(): void {
    const nowMs = performance.now();
    this.lateMsMost = Math.max(this.lateMsMost, nowMs - this.#tickMs - TICK_MS);
    this.#tickMs = nowMs;
  }

  async #callOn(task: Task, stream: boolean): Promise<void> {
    for (let place = 0; place < CALLS_MAX && !this.#dead; place++) {
      const user = `${this.#options.name}-${this.calls.length}`;
      const call: Call = { user, task, stream, requestId: undefined, text: "", reads: [], whole: false };
      this.calls.push(call);
      // A gateway that refuses is asked again, but not in a hot loop.
      if (!(await this.#call(call))) await pause(CREDIT_EVERY_MS);
    }
  }

  /** True where it was answered well. */
  async #call(call: Call): Promise<boolean> {
    const { gateway, secret } = this.#options;
    const messages = [{ role: "user", content: JSON.stringify(call.task) }];
    // Every other call names a model that always fails, and is answered by its fallback at a third of the price.
    const model = this.calls.length % 2 === 0 ? "kill-1" : "broken-1";
    const body = { model, messages, user: call.user, stream: call.stream };
    try {
      const response = await postChat(gateway, secret, body);
      call.requestId = response.headers.get("x-request-id") ?? undefined;
      if (response.status !== 200) await response.arrayBuffer();
      else if (call.stream) await readStream(response, call);
      else await readWhole(response, call);
    } catch {
      // The gateway died.
    }
    return call.whole;
  }

  async #credit(): Promise<void> {
    const { account, name } = this.#options;
    while (!this.#dead) {
      this.creditsSent += 1;
      const id = `${name}-${this.creditsSent}`;
      const credit = { amount_nanos: String(CREDIT_NANOS), credit_id: id };
      const path = `/accounts/${account}:credit`;
      const startMs = performance.now();
      const done = await this.#management.call("POST", path, credit).catch(() => undefined);
      this.commitMsMost = Math.max(this.commitMsMost, performance.now() - startMs);
      if (done?.status === 200) this.credited.push(id);
      await pause(CREDIT_EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const path = `/accounts/${this.#options.account}/entries?page_size=50`;
    while (!this.#dead) {
      const done = await this.#management.call("GET", path).catch(() => undefined);
      if (done?.status === 200)
        for (const entry of done.body["entries"] as Json[]) this.shown.set(String(entry["id"]), entry);
      await pause(LOOK_EVERY_MS);
    }
  }
}

/** Reads the text of the chunks as they come. */
async function readStream(response: Response, call: Call): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "data: [DONE]") call.whole = true;
      if (!line.startsWith("data: {")) continue;
      const chunk = JSON.parse(line.slice("data: ".length)) as { choices?: { delta?: { content?: string } }[] };
      call.text += chunk.choices?.[0]?.delta?.content ?? "";
    }
    call.reads.push({ atMs: performance.now(), characters: call.text.length });
  }
}

async function readWhole(response: Response, call: Call): Promise<void> {
  const answer = (await response.json()) as { choices: { message: { content: string } }[] };
  call.text = answer.choices[0]?.message.content ?? "";
  call.whole = true;
}

export function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
