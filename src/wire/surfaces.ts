/** Everything that is asked once and answered whole, beside vectors. A new one is a folder here and its line. */
import { moderations } from "./openai-moderations/index.js";
import { rerank } from "./rerank/index.js";
import type { SurfaceKind, SurfaceWire } from "./wire.js";

export const SURFACES: Readonly<Record<SurfaceKind, SurfaceWire>> = { rerank, moderation: moderations };
