/** Vectors for Google's clients: one content or a batch of them, each with what only Google's models are told of it. */
import assert from "node:assert/strict";
import type { EmbedResponse } from "../../api/index.js";
import { NO_USAGE } from "../../api/usage.js";
import { GatewayError } from "../../errors.js";
import { MODEL_CHARACTERS_MAX } from "../json/field.js";
import { readTree, wrongValue } from "../json/node.js";
import type { EmbeddingQuestion, EmbeddingWire, RequestFacts, SourceBody, WireRequest } from "../wire.js";
import { ProtoReader } from "./proto-reader.js";
import { PATH_MODEL_HEADER } from "./schema.js";

export const EMBEDDING_WIRE_NAME = "gemini-embeddings";

const INPUTS_MAX = 2_048;
/** Marks that a model puts around each text. */
const MARK_BYTES = 2;
/** What only Google's models are told of a text. */
const GOOGLES_OWN = ["taskType", "title"] as const;

/** One text, and what else is said of it. */
export interface EmbeddingText {
  readonly text: string;
  readonly taskType: string | undefined;
  readonly title: string | undefined;
}

/** A request of this wire. */
export class GeminiEmbeddingRequest implements WireRequest, EmbeddingQuestion {
  readonly encoding = "float";
  readonly facts: RequestFacts;

  constructor(
    readonly source: SourceBody,
    model: string,
    readonly texts: readonly EmbeddingText[],
    readonly dimensions: number | undefined,
    /** True where the client wants a list, even of one. */
    readonly isBatch: boolean,
  ) {
    this.facts = {
      model,
      stream: false,
      includeUsage: true,
      candidateCount: 1,
      outputTokensMax: 0,
      textBytes: texts.reduce((sum, { text }) => sum + Buffer.byteLength(text) + MARK_BYTES, 0),
      imageCount: 0,
      fileCount: 0,
      audioCount: 0,
      inputCount: texts.length,
    };
  }

  get embedding(): EmbeddingQuestion {
    return this;
  }

  inputs(): readonly string[] {
    return this.texts.map(({ text }) => text);
  }

  prompt(): never {
    assert.fail("a request for vectors has no prompt");
  }

  checkForeign(_model: string, dropped: string[] = []): void {
    for (const name of GOOGLES_OWN) if (this.texts.some((told) => told[name] !== undefined)) dropped.push(name);
  }
}

export const embeddingClientWire: EmbeddingWire = { name: EMBEDDING_WIRE_NAME, readRequest, encodeAnswer };

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
function readRequest(source: SourceBody): GeminiEmbeddingRequest {
  const model = source.headers[PATH_MODEL_HEADER] ?? "";
  if (model === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (model.length > MODEL_CHARACTERS_MAX)
    throw wrongValue("model", `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`);
  const root = readTree(source.body);
  const reader = new ProtoReader(root, "");
  const isBatch = reader.peek("requests") !== undefined;
  const requests = isBatch ? reader.objects("requests") : [reader];
  if (requests.length === 0) throw wrongValue("requests", "it must hold at least one request");
  if (requests.length > INPUTS_MAX) throw wrongValue("requests", `it must hold at most ${INPUTS_MAX} requests`);
  const asked = requests.map(readOne);
  const dimensions = asked[0]?.dimensions;
  const place = asked.findIndex((one) => one.dimensions !== dimensions);
  if (place !== -1)
    throw wrongValue(`requests[${place}].outputDimensionality`, "it must be the same in all requests of a batch");
  return new GeminiEmbeddingRequest(source, model, asked, dimensions, isBatch);
}

function readOne(reader: ProtoReader): EmbeddingText & { readonly dimensions: number | undefined } {
  const dimensions = reader.whole("outputDimensionality");
  if (dimensions === 0) throw wrongValue(reader.pathOf("outputDimensionality"), "it must be at least 1");
  return { text: readContent(reader), taskType: reader.text("taskType"), title: reader.text("title"), dimensions };
}

/** The texts of a content, which are one input. */
function readContent(reader: ProtoReader): string {
  const content = reader.value("content");
  if (content === undefined) return reader.missing("content");
  if (content.kind === "string") return content.text;
  const inner = new ProtoReader(content, reader.pathOf("content"));
  const parts = inner.objects("parts");
  if (parts.length === 0) return inner.missing("parts");
  return parts.map((part) => part.text("text") ?? notText(part)).join("");
}

function notText(part: ProtoReader): never {
  throw wrongValue(part.pathOf("text"), "only texts are turned into vectors");
}

/** Writes the vectors for the client who asked, as the list that it sent or as the one vector. */
function encodeAnswer({ embeddings, usage }: EmbedResponse, asked: WireRequest): Buffer {
  const vectors = embeddings.map(({ values }) => ({ values: [...values] }));
  const { inputTokens = 0n } = usage ?? NO_USAGE;
  const usageMetadata = { promptTokenCount: Number(inputTokens) };
  const isBatch = asked instanceof GeminiEmbeddingRequest && asked.isBatch;
  const told = isBatch ? { embeddings: vectors } : { embedding: vectors[0] ?? { values: [] } };
  return Buffer.from(JSON.stringify({ ...told, usageMetadata }));
}

/** A request of a batch, as Google's servers take it. */
export function encodeText(
  { text, taskType, title }: EmbeddingText,
  model: string,
  dimensions: number | undefined,
): object {
  const content = { parts: [{ text }] };
  return { model: `models/${model}`, content, taskType, title, outputDimensionality: dimensions };
}
