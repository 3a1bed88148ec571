/** Everything that is asked without a conversation, beside vectors. A new one is a folder here and its line. */
import { moderations } from "./openai-moderations/index.js";
import { speech } from "./openai-speech/index.js";
import { rerank } from "./rerank/index.js";
import type { SurfaceKind, SurfaceWire } from "./wire.js";

export const SURFACES: Readonly<Record<SurfaceKind, SurfaceWire>> = { rerank, moderation: moderations, speech };
