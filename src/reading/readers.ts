/** The wires that clients' bodies come in, by name, and the typed form of a request among them. */
import { TYPED_FORM, TYPED_TEXTS } from "../api/typed-form.js";
import { EmbedRequest, Generation } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { typedEmbedding } from "../gateway/typed-embedding.js";
import { typedRequest } from "../gateway/typed-request.js";
import { wire as anthropic } from "../wire/anthropic/index.js";
import { embeddingWire as geminiEmbeddings, wire as gemini } from "../wire/gemini/index.js";
import { wire as openAiChat } from "../wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../wire/openai-completions/index.js";
import { wire as openAiEmbeddings } from "../wire/openai-embeddings/index.js";
import { compaction as openAiCompaction, wire as openAiResponses } from "../wire/openai-responses/index.js";
import { SURFACES } from "../wire/surfaces.js";
import type { ClientWire, EmbeddingWire, SourceBody, SurfaceWire, WireRequest } from "../wire/wire.js";

type Reader = Pick<ClientWire | EmbeddingWire | SurfaceWire, "name"> & {
  readonly readRequest: ClientWire["readRequest"];
};

const CLIENT_WIRES: readonly ClientWire[] = [
  openAiChat,
  openAiResponses,
  openAiCompaction,
  openAiCompletions,
  anthropic,
  gemini,
];
const EMBEDDING_WIRES: readonly EmbeddingWire[] = [openAiEmbeddings, geminiEmbeddings];

export const clientWires: ReadonlyMap<string, ClientWire> = new Map(CLIENT_WIRES.map((wire) => [wire.name, wire]));
export const embeddingWires: ReadonlyMap<string, EmbeddingWire> = new Map(
  EMBEDDING_WIRES.map((wire) => [wire.name, wire]),
);

/** All that requests come in, by what they ask. */
export const requestWires = { wires: clientWires, embeddingWires, surfaces: SURFACES };

/** Reads the typed form. Whether its answer streams is known where it was asked for. */
function readTyped({ body }: SourceBody): WireRequest {
  const generation = decoded(Generation, body);
  const prompt = generation.input?.$case === "prompt" ? generation.input.value : undefined;
  if (prompt === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "generation" });
  return typedRequest(generation, prompt, true, clientWires);
}

/** The same of a request for vectors. */
function readTexts({ body }: SourceBody): WireRequest {
  return typedEmbedding(decoded(EmbedRequest, body));
}

function decoded<Typed>(form: { decode(body: Buffer): Typed }, body: Buffer): Typed {
  try {
    return form.decode(body);
  } catch (cause) {
    throw new GatewayError(
      "ERROR_REASON_BODY_INVALID",
      { problem: "it is not a valid message for this method" },
      { cause },
    );
  }
}

/** The same without what was said, which reads alike. */
export function typedOutline({ wire, body }: SourceBody): Uint8Array {
  if (wire === TYPED_TEXTS) return EmbedRequest.encode({ ...decoded(EmbedRequest, body), texts: [""] }).finish();
  const generation = decoded(Generation, body);
  if (generation.input?.$case === "prompt") {
    const [first] = generation.input.value.messages;
    generation.input.value.messages = first === undefined ? [] : [{ ...first, parts: [], extraJson: undefined }];
  }
  return Generation.encode(generation).finish();
}

const ALL: readonly Reader[] = [
  ...CLIENT_WIRES,
  ...EMBEDDING_WIRES,
  ...Object.values(SURFACES),
  { name: TYPED_FORM, readRequest: readTyped },
  { name: TYPED_TEXTS, readRequest: readTexts },
];

export const readers: ReadonlyMap<string, Reader> = new Map(ALL.map((wire) => [wire.name, wire]));
