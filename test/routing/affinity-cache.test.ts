/** Agents over four targets that cache prefixes: what comes from a cache, while the targets fail in turn. */
import { expect, test } from "vitest";
import type { Affinity } from "../../src/api/affinity.js";
import { Cancellation } from "../../src/base/cancellation.js";
import { SessionAffinity } from "../../src/routing/affinity.js";
import { REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import { Routing } from "../../src/routing/routing.js";
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "../../src/upstream/upstream.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { limiter, promptCaches } from "../support/prompt-caches.js";
import { modelOf, targetOf } from "./served.js";

const IS_LARGE = process.env["TOLLGATE_AFFINITY"] === "large";
/** In each window but the last one target fails: of all targets, 20 % over time. */
const WINDOWS = 5;
const TURNS_PER_WINDOW = IS_LARGE ? 40 : 10;
const SESSIONS = IS_LARGE ? 100 : 10;
const TURN_MS = 5_000;
/** What a turn adds to a conversation, and what all agents say first. */
const TURN_WORDS = 20;
const SYSTEM = "rule ".repeat(200);

/** Caches the prefixes of all that it answers, message by message. */
class CachingUpstream implements Upstream {
  isFailing = false;
  readonly words = { cached: 0, all: 0 };
  readonly #cached = new Set<string>();

  send({ body }: UpstreamRequest, handler: UpstreamHandler): Exchange {
    const isFailing = this.isFailing;
    queueMicrotask(() => {
      if (!isFailing) this.#read(JSON.parse(String(body)) as { messages: { content: string }[] });
      handler.onHead(isFailing ? 503 : 200, { "content-type": "application/json" });
      handler.onData(Buffer.from(isFailing ? "{}" : ANSWER));
      handler.onEnd();
    });
    return { pause: nothing, resume: nothing, abort: nothing };
  }

  #read({ messages }: { readonly messages: readonly { readonly content: string }[] }): void {
    let prefix = "";
    for (const { content } of messages) {
      prefix += `${content}\0`;
      const words = content.split(" ").length;
      this.words.all += words;
      if (this.#cached.has(prefix)) this.words.cached += words;
      this.#cached.add(prefix);
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const ANSWER = JSON.stringify({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
});

function nothing(): void {
  // What is told is another test's.
}

const RECEIVER = { begin: nothing, ended: nothing, watch: nothing, onDrain: nothing, take: () => true };

interface Agents {
  readonly targets: number;
  readonly hasAffinity: boolean;
  readonly fails: boolean;
}

/** The share of the input that came from caches. */
async function cachedShare({ targets: count, hasAffinity, fails }: Agents): Promise<number> {
  let nowMs = 0;
  let seed = 1;
  const upstreams = Array.from({ length: count }, () => new CachingUpstream());
  const model = { ...modelOf(upstreams.map((upstream, place) => targetOf(upstream, `t${place}`))), hasAffinity };
  const routing = new Routing({
    affinity: new SessionAffinity(Buffer.alloc(32, 3)),
    limiter,
    promptCaches,
    nowMs: () => nowMs,
    random: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    timeouts: REQUEST_TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
  });
  for (let turn = 0; turn < WINDOWS * TURNS_PER_WINDOW; turn += 1) {
    const failing = Math.floor(turn / TURNS_PER_WINDOW);
    for (const [place, upstream] of upstreams.entries()) upstream.isFailing = fails && place === failing;
    for (let session = 0; session < SESSIONS; session += 1) {
      nowMs += TURN_MS / SESSIONS;
      await routing.run(requestOf(session, turn), model, optionsOf(routing), RECEIVER);
    }
  }
  const words = upstreams.map((upstream) => upstream.words);
  return sum(words.map(({ cached }) => cached)) / sum(words.map(({ all }) => all));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

/** Nothing in it names its session. */
function requestOf(session: number, turn: number) {
  const said = Array.from({ length: turn + 1 }, (_, place) => [
    { role: "user", content: `agent ${session} ${`step${place} `.repeat(TURN_WORDS)}` },
    { role: "assistant", content: "done" },
  ]);
  const messages = [{ role: "system", content: SYSTEM }, ...said.flat().slice(0, -1)];
  const body = Buffer.from(JSON.stringify({ model: "m", messages }));
  return chat.readRequest({ wire: chat.name, body, headers: {} });
}

const NAMELESS = { session: "", sessionSource: "", promptCacheKey: "" } as const;

function optionsOf(routing: Routing) {
  const asked = { kind: "chat" as const, acceptWire: chat.name, outputTokensMax: 10, stream: false };
  const deadline = routing.deadline({}, performance.now(), Infinity);
  const session = { attributes: () => NAMELESS, affinity: undefined as Affinity | undefined };
  const caller = { accountId: "acme", strict: false, signal: new Cancellation() };
  return { ...asked, ...caller, candidateCount: 1, deadline, session };
}

test("agents over four targets, which fail in turn, read nearly as much from caches as over one", async () => {
  const single = await cachedShare({ targets: 1, hasAffinity: false, fails: false });
  const four = await cachedShare({ targets: 4, hasAffinity: true, fails: true });
  const scattered = await cachedShare({ targets: 4, hasAffinity: false, fails: true });
  if (IS_LARGE) process.stdout.write(`cached: one ${single}, four ${four}, four without affinity ${scattered}\n`);
  expect(four).toBeGreaterThanOrEqual(0.95 * single);
  expect(scattered).toBeLessThan(0.95 * single);
});
