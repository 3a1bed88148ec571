/**
 * Messages that are too long to be decoded on the event loop, by their bytes or by their fields: of them only the
 * outermost fields are read here, a body stays where it is, and the typed form stays bytes for the thread that reads
 * long bodies.
 */
import { bodyTooLarge } from "../../base/bytes/body-limit.js";
import { asBuffer } from "../../base/bytes/bytes.js";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  EmbedRequest,
  EstimateCostRequest,
  FrontServiceService,
  Generation,
  InferenceServiceService,
  ModerateRequest,
  Prompt,
  RerankRequest,
  Source,
  StreamSpeechRequest,
} from "../../api/index.js";
import type { Method } from "../../api/channel.js";
import { TYPED_BYTES_MAX, TYPED_FORM, TYPED_TEXTS } from "../../api/typed-form.js";
import { hasManyFields } from "./typed-weight.js";

/** The longest message that is nothing else than fields of management. */
const PLAIN_BYTES_MAX = 256 * 1024;
/** The longest list of texts in the typed form. */
const TEXTS_BYTES_MAX = 2 * 1024 * 1024;
/** The most fields of a message whose outermost ones are all that is read of it, and of a list of documents. */
const FIELDS_MAX = 4_096;
const LIST_MAX = 10_000;

/** Numbers of fields in the protocol. */
const GENERATION = 1;
const PROMPT = 2;
const SOURCE = 3;
const SOURCE_BODY = 2;
const EMBED_TEXTS = 2;
const EMBED_SOURCE = 4;
const ESTIMATE_EMBEDDING = 2;
const ESTIMATE_RERANK = 3;
const ESTIMATE_MODERATION = 4;
const RERANK_SOURCE = 5;
const MODERATE_SOURCE = 3;
const ESTIMATE_SPEECH = 5;
const SPEECH_SOURCE = 7;

const { streamGenerate, generate, countTokens, embed, rerank, moderate, streamSpeech, estimateCost } =
  InferenceServiceService;
const { reportUndelivered } = FrontServiceService;
const GENERATING: ReadonlySet<string> = new Set([streamGenerate.path, generate.path, countTokens.path]);
/** Methods that ask for what is translated, and their messages. */
const TYPES: ReadonlyMap<string, string> = new Map([
  [streamGenerate.path, "tollgate.v1.StreamGenerateRequest"],
  [generate.path, "tollgate.v1.GenerateRequest"],
  [countTokens.path, "tollgate.v1.CountTokensRequest"],
  [embed.path, "tollgate.v1.EmbedRequest"],
  [rerank.path, "tollgate.v1.RerankRequest"],
  [moderate.path, "tollgate.v1.ModerateRequest"],
  [streamSpeech.path, "tollgate.v1.StreamSpeechRequest"],
  [estimateCost.path, "tollgate.v1.EstimateCostRequest"],
]);

/** Throws BODY_TOO_LARGE, and what a broken message throws. */
export function decodeRequest(
  method: Pick<Method<unknown, unknown>, "path" | "requestDeserialize">,
  bytes: Buffer,
): unknown {
  const type = TYPES.get(method.path);
  if (bytes.length <= TYPED_BYTES_MAX && (type === undefined || !hasManyFields(bytes, type)))
    return method.requestDeserialize(bytes);
  if (GENERATING.has(method.path)) {
    const { rest, fields } = split(bytes, [GENERATION]);
    const message = method.requestDeserialize(short(rest));
    return Object.assign({}, message, { generation: generationOf(fields.get(GENERATION)) });
  }
  switch (method.path) {
    case embed.path:
      return embeddingOf(bytes);
    case rerank.path:
      return surfaceOf(bytes, RERANK_SOURCE, RerankRequest);
    case moderate.path:
      return surfaceOf(bytes, MODERATE_SOURCE, ModerateRequest);
    case streamSpeech.path:
      return surfaceOf(bytes, SPEECH_SOURCE, StreamSpeechRequest);
    case estimateCost.path:
      return estimateOf(bytes);
    // Only our own front ends hand answers back, and they bound them.
    case reportUndelivered.path:
      return method.requestDeserialize(bytes);
    default:
      if (bytes.length > PLAIN_BYTES_MAX) throw bodyTooLarge(PLAIN_BYTES_MAX);
      return method.requestDeserialize(bytes);
  }
}

function estimateOf(bytes: Buffer): EstimateCostRequest {
  const { rest, fields } = split(bytes, [
    GENERATION,
    ESTIMATE_EMBEDDING,
    ESTIMATE_RERANK,
    ESTIMATE_MODERATION,
    ESTIMATE_SPEECH,
  ]);
  const embedding = fields.get(ESTIMATE_EMBEDDING);
  const ranking = fields.get(ESTIMATE_RERANK);
  const moderation = fields.get(ESTIMATE_MODERATION);
  const speech = fields.get(ESTIMATE_SPEECH);
  return {
    ...EstimateCostRequest.decode(short(rest)),
    generation: generationOf(fields.get(GENERATION)),
    embedding: embedding && estimatedOf(embedding),
    rerank: ranking && surfaceOf(ranking, RERANK_SOURCE, RerankRequest),
    moderation: moderation && surfaceOf(moderation, MODERATE_SOURCE, ModerateRequest),
    speech: speech && surfaceOf(speech, SPEECH_SOURCE, StreamSpeechRequest),
  };
}

/** A request of a surface: what is long of it is a body. */
function surfaceOf<Request extends RerankRequest | ModerateRequest | StreamSpeechRequest>(
  bytes: Buffer,
  field: number,
  type: { decode(bytes: Uint8Array): Request },
): Request {
  const { rest, fields } = split(bytes, [field], LIST_MAX);
  if (rest.length > PLAIN_BYTES_MAX) throw bodyTooLarge(PLAIN_BYTES_MAX);
  const request = type.decode(rest);
  const source = fields.get(field);
  if (source !== undefined) request.source = sourceOf(source);
  return request;
}

function generationOf(bytes: Buffer | undefined): Generation | undefined {
  if (bytes === undefined) return undefined;
  const { rest, fields } = split(bytes, [PROMPT, SOURCE]);
  const generation = Generation.decode(short(rest));
  const [prompt, source] = [fields.get(PROMPT), fields.get(SOURCE)];
  // Of a choice the last that came counts.
  const isPrompt = prompt !== undefined && (source === undefined || prompt.byteOffset > source.byteOffset);
  if (isPrompt) {
    const value = { wire: TYPED_FORM, body: bytes, headers: {} };
    generation.input = isLong(prompt, "tollgate.v1.Prompt")
      ? { $case: "source", value }
      : { $case: "prompt", value: Prompt.decode(prompt) };
  } else if (source !== undefined) generation.input = { $case: "source", value: sourceOf(source) };
  return generation;
}

function sourceOf(bytes: Buffer): Source {
  const { rest, fields } = split(bytes, [SOURCE_BODY]);
  const source = Source.decode(short(rest));
  source.body = fields.get(SOURCE_BODY) ?? source.body;
  return source;
}

/** Beside a generation that is long, it may be short. */
function estimatedOf(bytes: Buffer): EmbedRequest {
  return isLong(bytes, "tollgate.v1.EmbedRequest") ? embeddingOf(bytes) : EmbedRequest.decode(bytes);
}

/** A body stands in for texts, which are left out then. */
function embeddingOf(bytes: Buffer): EmbedRequest {
  const { rest, fields } = split(bytes, [EMBED_TEXTS, EMBED_SOURCE]);
  const request = EmbedRequest.decode(short(rest));
  const source = fields.get(EMBED_SOURCE);
  if (source === undefined && bytes.length > TEXTS_BYTES_MAX) throw bodyTooLarge(TEXTS_BYTES_MAX);
  request.source = source === undefined ? { wire: TYPED_TEXTS, body: bytes, headers: {} } : sourceOf(source);
  return request;
}

function isLong(bytes: Buffer, type: string): boolean {
  return bytes.length > TYPED_BYTES_MAX || hasManyFields(bytes, type);
}

interface Split {
  /** All other fields, as they came. */
  readonly rest: Buffer;
  /** What each of the wanted fields holds; of one that comes twice, the last. */
  readonly fields: ReadonlyMap<number, Buffer>;
}

/** Takes the wanted fields out. Nothing is copied of them. `listMax` fields may be items of one list. */
function split(bytes: Buffer, wanted: readonly number[], listMax = 0): Split {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, Buffer>();
  const others: Buffer[] = [];
  for (let count = 1; reader.pos < reader.len; count += 1) {
    // Small fields by the million would take as long as what they are kept from.
    if (count > FIELDS_MAX + listMax) throw bodyTooLarge(TYPED_BYTES_MAX);
    const start = reader.pos;
    const [field, type] = reader.tag();
    // A group may hold as many, and no message of the protocol has one.
    if (type === WireType.StartGroup) throw new Error("the message holds a group");
    if (type === WireType.LengthDelimited && wanted.includes(field)) {
      fields.set(field, asBuffer(reader.bytes()));
      continue;
    }
    reader.skip(type, field);
    others.push(bytes.subarray(start, reader.pos));
  }
  return { rest: Buffer.concat(others), fields };
}

function short(rest: Buffer): Buffer {
  if (rest.length > TYPED_BYTES_MAX) throw bodyTooLarge(TYPED_BYTES_MAX);
  return rest;
}
