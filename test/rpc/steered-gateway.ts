/** A gateway that the request itself steers, by the name of its model: what stands behind the edge in its tests. */
import type { CancelSignal } from "../../src/base/cancellation.js";
import type { CallMetadata, Sink } from "../../src/api/channel.js";
import {
  type Answer,
  type Event,
  FinishReason,
  type Generation,
  type GenerateResponse,
  Role,
  type StreamGenerateResponse,
  UsageSource,
} from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { arrive } from "../../src/gateway/arrival.js";
import type { Gateway, GatewayCall } from "../../src/gateway/gateway.js";

/** Facts of a refusal, as many as one can have. */
export const LIMIT_FACTS = {
  limit: "tokens_per_minute",
  limit_value: "1000",
  remaining: "3",
  reset_ms: "1500",
  owner: "key key_1",
  model: "modèle 模型",
};
const LONG_WORDS = "ä%#\n".repeat(9_000);
export const FLOOD_COUNT = 400;
const FLOOD_MESSAGE_BYTES = 64 * 1024;

/** What the gateway saw of its last calls. */
export class SteeredGateway implements Gateway {
  readonly calls: GatewayCall[] = [];
  /** Messages that the last stream pushed. */
  pushedCount = 0;
  #onCall: (() => void) | undefined;

  /** The next call that arrives. */
  nextCall(): Promise<GatewayCall> {
    return new Promise((resolve) => {
      this.#onCall = () => {
        const call = this.calls.at(-1);
        if (call !== undefined) resolve(call);
      };
    });
  }

  async streamGenerate(
    request: { generation?: Generation | undefined },
    call: GatewayCall,
    sink: Sink<StreamGenerateResponse>,
  ): Promise<void> {
    arrive(request.generation, call);
    this.#took(call);
    const steer = request.generation?.model ?? "";
    switch (steer) {
      case "echo":
        sink.head({ "x-tollgate-upstream": "steered" });
        sink.data({ events: [], source: sourceOf(request.generation) });
        sink.data({ events: [finish()], source: Buffer.alloc(0) });
        return;
      case "talk":
        sink.data({ events: [textEvent(lastWords(request.generation))], source: Buffer.alloc(0) });
        sink.data({ events: [finish()], source: Buffer.alloc(0) });
        return;
      case "silent":
        return;
      case "cut":
        for (const text of ["a", "b", "c"]) sink.data({ events: [textEvent(text)], source: Buffer.alloc(0) });
        throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "cut" });
      case "flood":
        await this.#flood(sink);
        return;
      case "hang-after-one":
        sink.data({ events: [textEvent("first")], source: Buffer.alloc(0) });
        await aborted(call.signal);
        return;
      default:
        await this.#rest(steer, call);
    }
  }

  async generate(
    request: { generation?: Generation | undefined },
    call: GatewayCall,
    head: (metadata: CallMetadata) => void,
  ): Promise<GenerateResponse> {
    arrive(request.generation, call);
    this.#took(call);
    const steer = request.generation?.model ?? "";
    if (steer === "talk") return { answer: spoken(lastWords(request.generation)), source: Buffer.alloc(0) };
    if (steer !== "echo") await this.#rest(steer, call);
    head({ "x-tollgate-upstream": "steered" });
    const answer = { ...EMPTY_ANSWER, model: steer, costNanos: 9_007_199_254_740_993n };
    return { answer, source: sourceOf(request.generation) };
  }

  async countTokens(): Promise<{ inputTokens: bigint; exact: boolean }> {
    return { inputTokens: 7n, exact: true };
  }

  async embed(): Promise<never> {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "texts", model: "steered" });
  }

  async rerank(): Promise<never> {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "documents", model: "steered" });
  }

  async moderate(): Promise<never> {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "texts", model: "steered" });
  }

  async streamSpeech(): Promise<never> {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "text", model: "steered" });
  }

  async estimateCost(): Promise<never> {
    throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: "steered" });
  }

  #took(call: GatewayCall): void {
    this.calls.push(call);
    this.#onCall?.();
    this.#onCall = undefined;
  }

  async #rest(steer: string, call: GatewayCall): Promise<void> {
    switch (steer) {
      case "refuse":
        throw new GatewayError("ERROR_REASON_RATE_LIMITED", LIMIT_FACTS);
      case "long-refusal":
        throw new GatewayError("ERROR_REASON_UPSTREAM_REJECTED", { message: LONG_WORDS, param: "messages" });
      case "break":
        throw new Error("the cause nobody may see", { cause: new Error("sk-upstream-secret-0123456789") });
      case "hang":
        await aborted(call.signal);
        throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "hang" });
      case "deaf":
        await new Promise(() => undefined);
        return;
      default:
        throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: steer });
    }
  }

  async #flood(sink: Sink<StreamGenerateResponse>): Promise<void> {
    let wake: (() => void) | undefined;
    sink.onDrain(() => wake?.());
    for (this.pushedCount = 0; this.pushedCount < FLOOD_COUNT;) {
      const source = Buffer.alloc(FLOOD_MESSAGE_BYTES, this.pushedCount % 251);
      this.pushedCount += 1;
      if (!sink.data({ events: [], source })) await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

export function textEvent(text: string): Event {
  return { kind: { $case: "text", value: { candidate: 0, text } } };
}

const EMPTY_ANSWER = {
  id: "answer-1",
  model: "",
  createTime: new Date(1_700_000_000_000),
  candidates: [],
  usage: undefined,
  usageSource: UsageSource.USAGE_SOURCE_REPORTED,
  costNanos: 0n,
};

/** The text of the last message of a prompt. */
function lastWords(generation: Generation | undefined): string {
  const prompt = generation?.input?.$case === "prompt" ? generation.input.value : undefined;
  const part = prompt?.messages.at(-1)?.parts[0];
  return part?.kind?.$case === "text" ? part.kind.value.text : "";
}

function spoken(text: string): Answer {
  const part = { kind: { $case: "text" as const, value: { text, citationsJson: undefined } }, cacheMark: undefined };
  const message = { role: Role.ROLE_ASSISTANT, parts: [part], name: undefined, extraJson: undefined };
  const end = { finishReason: FinishReason.FINISH_REASON_END, stopString: undefined, logprobs: undefined };
  return { ...EMPTY_ANSWER, candidates: [{ index: 0, message, ...end }], costNanos: 12n };
}

function finish(): Event {
  const value = { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 12n };
  return { kind: { $case: "finish", value } };
}

function sourceOf(generation: Generation | undefined): Buffer {
  return generation?.input?.$case === "source" ? generation.input.value.body : Buffer.from("no source");
}

function aborted(signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
