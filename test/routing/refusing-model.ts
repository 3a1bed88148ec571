/** A model whose upstreams refuse what a test says they refuse: what the tests of refusals share. */
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import type { Family } from "../../src/families/family.js";
import { GatewayError } from "../../src/base/errors.js";
import { type TargetHealth, UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { ServedModel, Target } from "../../src/routing/model.js";
import { type AnswerReceiver, Routing } from "../../src/routing/routing.js";
import type { WireRequest } from "../../src/wire/wire.js";
import type { UpstreamHandler } from "../../src/upstream/upstream.js";
import type { Refusal } from "../support/refusals.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";
import { modelOf, targetOf } from "./served.js";

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

/** What an upstream says to a request, which it reads; undefined: an answer. */
type Says = (body: string, upstream: number) => Refusal | undefined;

/**
 * One model of one family at one upstream or more, by priority; each says what the test puts into `says`, and answers
 * plainly without that.
 */
export class Bench {
  says: Refusal | Says | undefined;
  asked = 0;
  nowMs = 0;
  readonly targets: readonly Target[];
  readonly #model: ServedModel;
  readonly #routing: Routing;

  constructor(family: Family, upstreams = 1) {
    const whole = Buffer.from(JSON.stringify(answers[family.wire.name] ?? CHAT));
    const upstream = (place: number) => ({
      send: ({ body }: { readonly body?: Buffer | undefined }, handler: UpstreamHandler) => {
        this.asked += 1;
        const said = typeof this.says === "function" ? this.says(String(body), place) : this.says;
        const { status, headers, body: bytes } = said ?? { status: 200, headers: {}, body: whole };
        queueMicrotask(() => {
          handler.onHead(status, { "content-type": "application/json", ...headers });
          handler.onData(bytes);
          handler.onEnd();
        });
        return { pause: () => undefined, resume: () => undefined, abort: () => undefined };
      },
      close: () => Promise.resolve(),
    });
    this.targets = Array.from({ length: upstreams }, (_, place) =>
      targetOf(upstream(place), `up-${place}`, { family, priority: place + 1 }),
    );
    this.#model = { ...modelOf(this.targets), contextTokens: 100_000, outputTokensMax: 1_000 };
    this.#routing = new Routing({
      affinity,
      limiter,
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

  /** The health of one of the targets. */
  healthOf(place: number): TargetHealth {
    return this.targets[place]?.health ?? new UpstreamHealth().of("nobody");
  }

  /** Asks as an account; resolves with the error, if any. No time passes between requests. */
  ask(accountId: string, request = REQUEST): Promise<GatewayError | undefined> {
    const { signal } = new AbortController();
    const options = { kind: "chat", outputTokensMax: 16, stream: false, candidateCount: 1, strict: false } as const;
    const deadline = this.#routing.deadline({}, performance.now(), Infinity);
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

/** `quoted` is the prompt as JSON. */
export const requestOf = (quoted: string): WireRequest =>
  openAiChat.readRequest({
    wire: openAiChat.name,
    body: Buffer.from(`{"model":"m","messages":[{"role":"user","content":${quoted}}]}`),
    headers: {},
  });
export const REQUEST = requestOf('"Hello"');
