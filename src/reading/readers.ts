/** The wires that clients' bodies come in, by name. */
import { wire as anthropic } from "../wire/anthropic/index.js";
import { wire as gemini } from "../wire/gemini/index.js";
import { wire as openAiChat } from "../wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../wire/openai-completions/index.js";
import { wire as openAiEmbeddings } from "../wire/openai-embeddings/index.js";
import { wire as openAiResponses } from "../wire/openai-responses/index.js";
import type { ClientWire, EmbeddingWire } from "../wire/wire.js";

type Reader = Pick<ClientWire | EmbeddingWire, "name"> & { readonly readRequest: ClientWire["readRequest"] };

const ALL: readonly Reader[] = [openAiChat, openAiResponses, openAiCompletions, anthropic, gemini, openAiEmbeddings];

export const readers: ReadonlyMap<string, Reader> = new Map(ALL.map((wire) => [wire.name, wire]));
