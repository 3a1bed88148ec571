/** The methods of the gateway: each parses its request, and all generate through one pipeline. */
import { asBuffer } from "../base/bytes/bytes.js";
import {
  type CountTokensRequest,
  type CountTokensResponse,
  type EstimateCostRequest,
  type EstimateCostResponse,
  type Generation,
  type GenerateRequest,
  type GenerateResponse,
  type ModerateRequest,
  type ModerateResponse,
  type RerankRequest,
  type RerankResponse,
  type Source,
  type StreamGenerateResponse,
  TokenSource,
} from "../api/index.js";
import type { CallMetadata, Sink } from "../api/channel.js";
import { TYPED_FORM } from "../api/typed-form.js";
import { AnswerFold } from "../api/answer-fold.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { withoutLackingAnywhere } from "../routing/left-out-tools.js";
import { withFacts } from "../wire/request/changed-facts.js";
import { isLongBody } from "../wire/wire.js";
import { findModel } from "./admission.js";
import { arrive, requireBodySize, sourceOf } from "./arrival.js";
import { eligibleFor } from "./demands.js";
import { embed, readEmbedding } from "./embed.js";
import { estimate } from "./estimate.js";
import type { Gateway, GatewayCall } from "./gateway.js";
import { requireUnfrozen } from "../keys/account-freeze.js";
import { knownInput } from "./known-input.js";
import { type ParsedRequest, generate } from "./generate.js";
import type { Steps } from "./steps.js";
import { moderationResults, moderationSource, rerankResults, rerankSource } from "./typed-surface.js";
import { speechSource, streamSpeech } from "./speech.js";
import { askSurface, readSurface } from "./surface.js";
import { typedRequest } from "./typed-request.js";

const NO_BYTES = Buffer.alloc(0);

export function createGateway(steps: Steps): Gateway {
  return {
    // Rejects where the request cannot be read.
    streamGenerate: ({ generation, acceptWire }, call, sink) => {
      arrive(generation, call);
      return generate(() => readGeneration(generation, acceptWire, call, steps, true), call, sink, steps);
    },
    generate: (request, call, head) => generateWhole(request, call, head, steps),
    countTokens: (request, call) => countTokens(request, call, steps),
    embed: (request, call, head) => embed(request, call, head, steps),
    rerank: (request, call, head) => rank(request, call, head, steps),
    moderate: (request, call, head) => moderate(request, call, head, steps),
    streamSpeech: (request, call, sink) => streamSpeech(request, call, sink, steps),
    estimateCost: (request, call) => estimateCost(request, call, steps),
  };
}

/** A client's own body is answered by the wire's own, and the typed form by typed results. */
async function rank(
  request: RerankRequest,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<RerankResponse> {
  const wire = steps.surfaces.rerank;
  const { embeddings: _, ...answer } = await askSurface(rerankSource(request, wire.name), wire, call, head, steps);
  if (request.source !== undefined) return { ...answer, results: [] };
  return { ...answer, results: rerankResults(answer.source), source: NO_BYTES };
}

/** The same of a moderation. */
async function moderate(
  request: ModerateRequest,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<ModerateResponse> {
  const wire = steps.surfaces.moderation;
  const { embeddings: _, ...answer } = await askSurface(moderationSource(request, wire.name), wire, call, head, steps);
  if (request.source !== undefined) return { ...answer, results: [] };
  return { ...answer, results: moderationResults(answer.source), source: NO_BYTES };
}

/**
 * A whole answer: the upstream is asked for a whole answer, whose one batch is unfolded into events and folded again.
 */
async function generateWhole(
  asked: GenerateRequest,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<GenerateResponse> {
  const { generation, acceptWire } = asked;
  arrive(generation, call);
  const fold = new AnswerFold();
  const sources: Buffer[] = [];
  const sink: Sink<StreamGenerateResponse> = {
    head,
    data: (message) => {
      fold.push(message.events);
      if (message.source.length > 0) sources.push(message.source);
      return true;
    },
    onDrain: () => undefined,
  };
  const whole = (read: ParsedRequest): ParsedRequest => {
    const facts = { ...read.request.facts, stream: false };
    return { ...read, request: withFacts(read.request, facts) };
  };
  const read = (): ParsedRequest | Promise<ParsedRequest> =>
    whenReady(readGeneration(generation, acceptWire, call, steps, false), whole);
  await generate(read, call, sink, steps);
  const [first, second] = sources;
  return {
    answer: fold.answer(),
    source: first !== undefined && second === undefined ? first : Buffer.concat(sources),
  };
}

/** Token counting costs nothing, but may call an upstream, so it uses the limits of a request. */
async function countTokens(asked: CountTokensRequest, call: GatewayCall, steps: Steps): Promise<CountTokensResponse> {
  requireBodySize(sourceOf(asked.generation));
  requireUnfrozen(call.caller);
  const admission = await steps.limits.admit(call.caller, call.requestId);
  try {
    await admission.enter();
    return await countAdmitted(asked, call, steps);
  } finally {
    admission.release();
  }
}

async function countAdmitted(asked: CountTokensRequest, call: GatewayCall, steps: Steps): Promise<CountTokensResponse> {
  const { request: came } = await readGeneration(asked.generation, "", call, steps, false, "count");
  const model = eligibleFor(findModel(came.facts.model, call.caller, steps), came, call);
  const request = withoutLackingAnywhere(came, model, "chat");
  const { tokens, source } = await knownInput(request, model, call, steps);
  return { inputTokens: BigInt(tokens), exact: source !== TokenSource.TOKEN_SOURCE_ESTIMATE };
}

async function estimateCost(
  asked: EstimateCostRequest,
  call: GatewayCall,
  steps: Steps,
): Promise<EstimateCostResponse> {
  const { generation, embedding, rerank: ranking, moderation, speech } = asked;
  const said = Object.entries({ generation, embedding, rerank: ranking, moderation, speech });
  const [, second] = said.filter(([, one]) => one !== undefined);
  if (second !== undefined) {
    const problem = "must not stand beside another request";
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: second[0], problem });
  }
  const { surfaces } = steps;
  if (ranking !== undefined) {
    const source = rerankSource(ranking, surfaces.rerank.name);
    return estimate(await readSurface(source, surfaces.rerank, call, steps), call, steps);
  }
  if (moderation !== undefined) {
    const source = moderationSource(moderation, surfaces.moderation.name);
    return estimate(await readSurface(source, surfaces.moderation, call, steps), call, steps);
  }
  if (speech !== undefined) {
    const source = speechSource(speech, surfaces.speech.name);
    return estimate(await readSurface(source, surfaces.speech, call, steps), call, steps);
  }
  requireBodySize(sourceOf(generation));
  requireBodySize(embedding?.source);
  const read =
    embedding === undefined
      ? readGeneration(generation, "", call, steps, false)
      : readEmbedding(embedding, "", call, steps);
  return estimate(await read, call, steps);
}

function readGeneration(
  generation: Generation | undefined,
  acceptWire: string,
  call: GatewayCall,
  steps: Steps,
  stream: boolean,
  purpose: "generate" | "count" = "generate",
): ParsedRequest | Promise<ParsedRequest> {
  const input = generation?.input;
  if (generation === undefined || input === undefined) {
    throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "generation" });
  }
  if (generation.outputTokensMax === 0n) {
    const problem = "must be at least 1";
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "generation.output_tokens_max", problem });
  }
  if (input.$case === "prompt")
    return { request: typedRequest(generation, input.value, stream, steps.wires), generation, acceptWire };
  if (input.value.wire === TYPED_FORM) return readTyped(generation, input.value, acceptWire, call, steps, purpose);
  const wire = steps.wires.get(input.value.wire);
  if (wire === undefined) {
    const problem = `must be one of ${[...steps.wires.keys()].join(", ")}`;
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "generation.source.wire", problem });
  }
  const body = asBuffer(input.value.body);
  const source = { wire: wire.name, body, headers: input.value.headers };
  if (isLongBody(body)) {
    const reading = steps.longBodies.read(source, purpose, call.caller.accountId);
    return reading.then((request) => ({ request, generation, acceptWire }));
  }
  const request = wire.readRequest(source, purpose);
  return { request, generation, acceptWire };
}

/** Parses a long request of the typed form, which arrived as bytes. */
async function readTyped(
  generation: Generation,
  { wire, body, headers }: Source,
  acceptWire: string,
  call: GatewayCall,
  steps: Steps,
  purpose: "generate" | "count",
): Promise<ParsedRequest> {
  const source = { wire, body: asBuffer(body), headers };
  const request = await steps.longBodies.read(source, purpose, call.caller.accountId);
  return { request, generation, acceptWire };
}
