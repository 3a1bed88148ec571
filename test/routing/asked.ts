/** Requests on their way to a family's upstream, with nothing sent: what the gate's tests share. */
import { serviceTierOf } from "../../src/api/service-tier.js";
import { families } from "../../src/families/index.js";
import type { Family, Endpoint } from "../../src/families/family.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { Target } from "../../src/routing/model.js";
import { bodyFor } from "../../src/routing/upstream-request.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import type { Permits } from "../../src/wire/request/member-gate.js";
import type { MemberTable } from "../../src/wire/request/members.js";
import type { PromptCache } from "../../src/wire/request/prompt-cache.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as completions } from "../../src/wire/openai-completions/index.js";
import { wire as embeddings } from "../../src/wire/openai-embeddings/index.js";
import { compaction } from "../../src/wire/openai-responses/compaction/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import { SURFACES } from "../../src/wire/surfaces.js";
import type { SourceBody, WireRequest } from "../../src/wire/wire.js";

/** The limit that the hold covers, which no client's body says. */
export const LIMIT = 777;
/** The model as upstreams name it. */
export const MODEL = "up-1";

export const CLIENT_WIRES: readonly { readonly name: string; readRequest(source: SourceBody): WireRequest }[] = [
  chat,
  responses,
  compaction,
  completions,
  embeddings,
  ...Object.values(SURFACES),
  anthropic,
  gemini,
];

/** The least that each client's wire asks for. */
export const LEAST: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "openai-chat": { model: "m", messages: [{ role: "user", content: "Hi" }] },
  "openai-responses": { model: "m", input: "Hi" },
  "openai-compaction": { model: "m", input: "Hi" },
  "openai-completions": { model: "m", prompt: "Hi" },
  "openai-embeddings": { model: "m", input: "Hi" },
  rerank: { model: "m", query: "Hi", documents: ["Hi"] },
  "openai-moderations": { model: "m", input: "Hi" },
  "openai-speech": { model: "m", input: "Hi", voice: "alloy" },
  anthropic: { model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
};

/** True where requests that came in a wire go to an endpoint of this one. */
export function goesTo(wire: string, to: string): boolean {
  // Vectors are asked for in wires of their own; texts to go on with, and compactions, in theirs alone.
  if (to === "openai-completions" || wire === "openai-compaction" || to === "openai-compaction") return wire === to;
  if (isSurface(wire) || isSurface(to)) return wire === to;
  return (wire === "openai-embeddings") === to.endsWith("embeddings");
}

function isSurface(name: string): boolean {
  return Object.values(SURFACES).some((surface) => surface.name === name);
}

const HEADERS = { "x-tollgate-path-model": "m" };

/** Nothing has a price, and what nobody knows passes. */
export const UNPRICED: Permits = {
  tool: () => "unpriced",
  tier: (name) => (serviceTierOf(name) === "" ? "ordinary" : "unpriced"),
  holds: () => false,
  passes: () => true,
};

/** Every way in which a family is spoken to. */
export const ENDPOINTS: readonly {
  readonly family: Family;
  readonly endpoint: Endpoint;
  readonly table: MemberTable;
}[] = families.flatMap((family) =>
  [family, ...(family.alsoSpeaks ?? []), ...Object.values(family.endpoints ?? {})].map((endpoint: Endpoint) => ({
    family,
    endpoint,
    table: endpoint.members ?? endpoint.wire.members,
  })),
);

export function read(wire: string, body: string): WireRequest {
  const found = CLIENT_WIRES.find(({ name }) => name === wire);
  if (found === undefined) throw new Error(`no client speaks ${wire}`);
  return found.readRequest({ wire, body: Buffer.from(body), headers: HEADERS });
}

/** The body that the upstream would get; `dropped` takes what it is not asked. Throws the refusal. */
export function leaving(
  request: WireRequest,
  family: Family,
  endpoint: Endpoint,
  permits = UNPRICED,
  cache?: PromptCache,
  dropped: string[] = [],
  strict = false,
): Buffer {
  const upstream = { send: (): never => notSent(), close: () => Promise.resolve() };
  const health = new UpstreamHealth(() => undefined);
  const served = { id: "u", family, baseUrl: "", upstream, headers: {}, credential: undefined, health };
  const target: Target = {
    served,
    model: MODEL,
    health: health.of(MODEL),
    facts: {},
    knownMembersOnly: false,
    promptCache: undefined,
    cost: undefined,
    weight: 1,
    priority: 1,
  };
  const owned = { model: MODEL, facts: {}, outputTokensMax: LIMIT, stream: false, candidateCount: 1, cache };
  return bodyFor({ request, target, endpoint, owned, strict, permits }, dropped);
}

function notSent(): never {
  throw new Error("nothing is sent here");
}
