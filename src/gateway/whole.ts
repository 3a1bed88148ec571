/** Requests that are answered whole without a typed answer to fold: vectors, and surfaces. All run the one pipeline. */
import { AnswerFold } from "../api/answer-fold.js";
import type { CallMetadata } from "../api/channel.js";
import type { Embedding, Generation, Usage } from "../api/index.js";
import { whenReady } from "../base/when-ready.js";
import type { GatewayCall } from "./gateway.js";
import { generate, type ParsedRequest } from "./generate.js";
import type { AnswerBatch } from "./meter-types.js";
import type { Steps } from "./steps.js";

/** What such a request says as a generation. */
export const NO_GENERATION: Generation = { model: "", input: undefined, outputTokensMax: undefined, clamp: undefined };

export interface AnsweredWhole {
  /** The model that answered, as the upstream names it. */
  readonly model: string;
  readonly usage: Usage | undefined;
  readonly costNanos: bigint;
  /** The answer in the wire that the caller takes; empty where it takes another. */
  readonly source: Buffer;
  /** The vectors, where they were asked for and the source does not stand for them. */
  readonly embeddings: readonly Embedding[];
}

/** Runs one request, which `read` parses once it is admitted: held for and settled as any request is. */
export async function answerWhole(
  read: () => ParsedRequest | Promise<ParsedRequest>,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<AnsweredWhole> {
  const fold = new AnswerFold();
  let embeddings: readonly Embedding[] = [];
  let source: Buffer = Buffer.alloc(0);
  const sink = {
    head,
    data: (message: AnswerBatch): boolean => {
      fold.push(message.events);
      embeddings = message.embeddings ?? [];
      source = message.source;
      return true;
    },
    onDrain: (): void => undefined,
  };
  let asksFor = "";
  const noted = (parsed: ParsedRequest): ParsedRequest => {
    asksFor = parsed.request.facts.model;
    return parsed;
  };
  await generate(() => whenReady(read(), noted), call, sink, steps);
  const { model, usage, costNanos } = fold.answer();
  return { model: model || asksFor, usage, costNanos, source, embeddings };
}
