/** The stand-in's models, one for each kind of request that can be tried without a network. */
import type { BuiltInModel } from "../family.js";
import { SIM_EMBEDDING_MODEL } from "./embedding.js";
import { SIM_MODERATION_MODEL } from "./moderation.js";
import { SIM_MODEL } from "./request.js";
import { SIM_RERANK_MODEL } from "./rerank.js";
import { SIM_SPEECH_MODEL } from "./speech.js";

export const SIM_MODELS: readonly BuiltInModel[] = [
  SIM_MODEL,
  SIM_EMBEDDING_MODEL,
  SIM_RERANK_MODEL,
  SIM_MODERATION_MODEL,
  SIM_SPEECH_MODEL,
];
