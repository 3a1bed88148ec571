/** How families are asked for surfaces: each says its path, and where it differs from most. */
import { moderations } from "../wire/openai-moderations/index.js";
import { speech, type SpeechDialect } from "../wire/openai-speech/index.js";
import { rerank, type RerankDialect } from "../wire/rerank/index.js";
import type { BilledUnit, Endpoint } from "./family.js";

/** How a family ranks documents. */
export interface RerankEndpoint {
  /** Path under the base address. */
  readonly path: string;
  /** How it differs from Jina and vLLM. */
  readonly dialect?: Partial<RerankDialect>;
  /** Left out where it bills tokens. */
  readonly units?: readonly BilledUnit[];
}

/** The endpoint of such a family. */
export function rerankEndpoint({ path, dialect = {}, units }: RerankEndpoint): Endpoint {
  return { answers: "fitted", wire: rerank, dialect, units, generatePath: () => path };
}

/** Where content is judged at OpenAI's path. */
export const MODERATION: Endpoint = { wire: moderations, dialect: {}, generatePath: () => "/moderations" };

/** Where texts are spoken at OpenAI's path, and billed by characters or by tokens. */
export function speechEndpoint(dialect: Partial<SpeechDialect> = {}): Endpoint {
  return { wire: speech, dialect: { ...dialect }, units: ["character", "token"], generatePath: () => "/audio/speech" };
}
