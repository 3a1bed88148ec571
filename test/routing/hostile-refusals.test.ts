/** Whatever one tenant makes an upstream say, another tenant's next request is served: swept over all families. */
import { expect, test } from "vitest";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import type { Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { GatewayError } from "../../src/errors.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedModel, ServedUpstream } from "../../src/routing/model.js";
import { type AnswerReceiver, Routing } from "../../src/routing/routing.js";
import type { WireRequest } from "../../src/wire/wire.js";
import type { UpstreamHandler } from "../../src/upstream/upstream.js";
import { FREE } from "../pricing/prices.js";
import { HOSTILE_WORDS, inWords, type Refusal, withCode } from "../support/refusals.js";
import { bySweep } from "../support/sweep.js";
import { promptCaches } from "../support/prompt-caches.js";

const MEANINGFUL = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 451, 500, 502, 503, 504, 520, 529];
/** Those that mean something, and of the others each or every seventh. */
const STATUSES = Array.from({ length: 130 }, (_, index) => 400 + index).filter(
  (status) => MEANINGFUL.includes(status) || status % bySweep({ short: 20, long: 1, all: 1 }) === 0,
);
const CODES: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["authentication_error", "billing_error", "permission_error", "not_found_error"],
  gemini: ["API_KEY_INVALID", "UNAUTHENTICATED", "BILLING_DISABLED", "NOT_FOUND"],
  "bedrock-converse": ["ExpiredTokenException", "AccessDeniedException", "ResourceNotFoundException"],
};
const OPENAI_CODES = ["invalid_api_key", "insufficient_quota", "account_deactivated", "model_not_found"];

const answers: Readonly<Record<string, object>> = {
  anthropic: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hello" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
  "openai-responses": {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [{ id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  "bedrock-converse": {
    output: { message: { role: "assistant", content: [{ text: "Hello" }] } },
    stopReason: "end_turn",
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
};
const CHAT = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** One model of one family; its upstream says what the test puts into `says`, and answers plainly without that. */
class Bench {
  says: Refusal | undefined;
  asked = 0;
  nowMs = 0;
  readonly #model: ServedModel;
  readonly #routing: Routing;

  constructor(family: Family) {
    const whole = Buffer.from(JSON.stringify(answers[family.wire.name] ?? CHAT));
    const upstream = {
      send: (_request: object, handler: UpstreamHandler) => {
        this.asked += 1;
        const { status, headers, body } = this.says ?? { status: 200, headers: {}, body: whole };
        queueMicrotask(() => {
          handler.onHead(status, { "content-type": "application/json", ...headers });
          handler.onData(body);
          handler.onEnd();
        });
        return { pause: () => undefined, resume: () => undefined, abort: () => undefined };
      },
      close: () => Promise.resolve(),
    };
    const health = new UpstreamHealth();
    const served: ServedUpstream = {
      id: "up",
      family,
      baseUrl: "",
      upstream,
      headers: {},
      credential: undefined,
      health,
    };
    this.#model = makeModel(served);
    this.#routing = new Routing({
      promptCaches,
      nowMs: () => this.nowMs,
      random: () => 0,
      timeouts: {
        totalMs: 60_000,
        firstTokenMs: 60_000,
        wholeMs: 60_000,
        idleMs: 60_000,
        lingerMs: 60_000,
        readOnMs: 60_000,
      },
      listed: () => undefined,
      onAttempt: () => undefined,
      onUnknownMember: () => undefined,
      onReadOn: () => undefined,
    });
  }

  /** Asks as an account; resolves with the error, if any. No time passes between requests. */
  ask(accountId: string, request = REQUEST): Promise<GatewayError | undefined> {
    const { signal } = new AbortController();
    const options = { kind: "chat", outputTokensMax: 16, stream: false, candidateCount: 1, strict: false } as const;
    const deadline = this.#routing.deadline(performance.now(), Infinity);
    return this.#routing
      .run(request, this.#model, { ...options, acceptWire: "", accountId, signal, deadline }, RECEIVER)
      .then(() => undefined, GatewayError.from);
  }
}

const RECEIVER: AnswerReceiver = {
  begin: () => undefined,
  ended: () => undefined,
  take: () => true,
  onDrain: () => undefined,
  watch: () => undefined,
};

function makeModel(served: ServedUpstream): ServedModel {
  const target = {
    served,
    model: "m",
    health: served.health.of("m"),
    facts: {},
    cost: undefined,
    knownMembersOnly: false,
    promptCache: undefined,
    weight: 1,
    priority: 1,
  };
  const limits = { contextTokens: 100_000, outputTokensMax: 1_000 };
  const about = { id: "m", owner: "test", createTime: new Date(0), kind: undefined };
  return { ...about, ...limits, price: FREE, isListPriced: false, targets: [target] };
}

/** `quoted` is the prompt as JSON. */
const requestOf = (quoted: string): WireRequest =>
  openAiChat.readRequest({
    wire: openAiChat.name,
    body: Buffer.from(`{"model":"m","messages":[{"role":"user","content":${quoted}}]}`),
    headers: {},
  });
const REQUEST = requestOf('"Hello"');

/** All that an upstream of the family may be made to say. */
function* refusalsOf(family: Family): Iterable<readonly [string, Refusal]> {
  const codes = CODES[family.wire.name] ?? OPENAI_CODES;
  const isFirst = families.find(({ wire }) => wire.name === family.wire.name) === family;
  for (const status of isFirst ? STATUSES : MEANINGFUL) {
    // All words with all statuses are read in the families' own test; here each status has two of them.
    for (const place of [status, status + 3]) {
      const words = HOSTILE_WORDS[place % HOSTILE_WORDS.length] ?? "";
      yield [`${status} saying '${words}'`, inWords(family, status, words)];
    }
    for (const code of codes) yield [`${status} with ${code}`, withCode(family, status, code, HOSTILE_WORDS.join())];
  }
}

test.each(families)("$name: after any refusal of one tenant's requests another's is served", async (family) => {
  const bench = new Bench(family);
  for (const [what, refusal] of refusalsOf(family)) {
    bench.says = refusal;
    expect(await bench.ask("mallory"), what).toBeDefined();
    bench.says = undefined;
    const before = bench.asked;
    if ((await bench.ask("alice")) !== undefined) expect.unreachable(`alice was refused after ${what}`);
    if (bench.asked !== before + 1) expect.unreachable(`alice was not served at once after ${what}`);
  }
});

test.each(families)("$name: nor do all refusals in a row, with nobody served between them", async (family) => {
  const bench = new Bench(family);
  for (const [, refusal] of refusalsOf(family)) {
    bench.says = refusal;
    await bench.ask("mallory");
  }
  bench.says = undefined;
  expect(await bench.ask("alice")).toBeUndefined();
  expect(await bench.ask("mallory"), "what proved itself is back for all").toBeUndefined();
});

test.each(families)("$name: words alone set nothing aside, however many tenants meet them", async (family) => {
  const bench = new Bench(family);
  const isExact = (status: number): boolean =>
    family.refusals?.some((row) => row.status === status && row.code === undefined) === true;
  for (const status of [400, 402, 403, 422]) {
    // Its documents give this status one meaning, whatever the words are.
    if (isExact(status)) continue;
    for (const words of HOSTILE_WORDS) {
      bench.says = inWords(family, status, words);
      for (const account of ["mallory", "trent", "oscar", "mallory"]) await bench.ask(account);
      bench.says = undefined;
      const before = bench.asked;
      expect(await bench.ask("alice"), `${status} saying '${words}'`).toBeUndefined();
      expect(bench.asked).toBe(before + 1);
    }
  }
});

/** What a wire takes for words about the gateway's account where a client did not write them. */
const OUR_WORDS = [
  ...HOSTILE_WORDS,
  "Your prepayment credits are depleted",
  "The provided model identifier is invalid.",
  "Insufficient credits: top up",
];
const SPELLINGS: readonly ((words: string) => string)[] = [
  (words) => JSON.stringify(words),
  (words) => JSON.stringify(`What does '${words.toUpperCase()}' mean?`),
  (words) => `"${Array.from(words, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`,
];

test.each(families)("$name: words that a client wrote itself decide nothing", async (family) => {
  const judged: string[] = [];
  for (const status of [400, 413, 422])
    for (const words of OUR_WORDS) {
      const bench = new Bench(family);
      bench.says = inWords(family, status, "Told.");
      const plain = await bench.ask("trent");
      for (const said of [words, `Invalid value: '${words}'`]) {
        bench.says = inWords(family, status, said);
        if ((await bench.ask("oscar"))?.reason !== plain?.reason) judged.push(words);
        for (const spell of SPELLINGS) {
          const error = await bench.ask("mallory", requestOf(spell(words)));
          expect(error?.reason, `${status} saying '${said}'`).toBe(plain?.reason);
        }
      }
    }
  expect(judged, "words that nobody wrote still count").not.toEqual([]);
});

test("an upstream that refuses all its tenants is probed, and back for all with the first answer", async () => {
  const bench = new Bench(families[0] ?? expect.unreachable("there are families"));
  bench.says = withCode(families[0] ?? expect.unreachable(), 401, "invalid_api_key");
  for (const account of ["alice", "bob", "alice"]) await bench.ask(account);
  const before = bench.asked;
  for (let index = 0; index < 50; index += 1) {
    const error = await bench.ask(`tenant ${index}`);
    expect(error?.reason).toBe("ERROR_REASON_UPSTREAM_CREDENTIAL");
    expect(error?.retry).toBe(false);
  }
  expect(bench.asked).toBe(before);
  bench.nowMs += 1_000;
  bench.says = undefined;
  expect(await bench.ask("carol")).toBeUndefined();
  expect(await bench.ask("alice")).toBeUndefined();
});
