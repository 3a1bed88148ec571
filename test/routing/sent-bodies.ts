/** The bodies that leave for upstreams when clients try every name of the model and of the limit. */
import { expect } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { CLIENT_WIRES, ENDPOINTS, goesTo, LEAST, leaving, LIMIT, MODEL, read } from "./asked.js";
import { bySweep } from "../support/sweep.js";

const VALUES = ['"m"', '"dear"', "1", "999999", "1e3", "null", "-1", "0.5"];
const MODELS = "model Model MODEL mod\\u0065l model\\u0000 m\\u006fdel".split(" ");
const GENERATION = ["generationConfig", "generation_config", "GenerationConfig", "generationconfig"];

/** Members that a client of each wire may try; of Google's the limit is inside of another. */
const TRIED: Readonly<Record<string, readonly string[]>> = {
  "openai-chat": names(
    "max_tokens MAX_TOKENS Max_Tokens max_to\u212aens max_token\u017f max_token\\u0073 maxTokens " +
      "max_completion_tokens Max_Completion_Tokens n_predict N_PREDICT n_pred\\u0069ct",
  ),
  "openai-completions": names("max_tokens MAX_TOKENS max_to\u212aens max_token\\u0073 n_predict N_Predict maxTokens"),
  "openai-responses": names(
    "max_output_tokens MAX_OUTPUT_TOKENS max_output_to\u212aens max_output_token\\u0073 maxOutputTokens max_tokens",
  ),
  "openai-compaction": names("max_output_tokens max_tokens"),
  "openai-embeddings": names("dimensions max_tokens"),
  anthropic: names("max_tokens MAX_TOKENS Max_Tokens max_to\u212aens max_token\u017f max_token\\u0073 maxTokens"),
  gemini: [
    ...names("maxOutputTokens max_output_tokens"),
    ...GENERATION.flatMap((config) =>
      "maxOutputTokens max_output_tokens MaxOutputTokens maxOutputToken\\u0073 max_output_to\u212aens"
        .split(" ")
        .map((name) => `"${config}":{"${name}":999999}`),
    ),
  ],
};

/** What the decoders look at in the bodies of each wire: where the model may stand, and every name of the limit. */
export const LOOKED_AT: Readonly<Record<string, { readonly model?: string; readonly limits: readonly string[] }>> = {
  "openai-chat": { model: "model", limits: ["max_tokens", "max_completion_tokens", "n_predict"] },
  "openai-completions": { model: "model", limits: ["max_tokens", "n_predict"] },
  "openai-responses": { model: "model", limits: ["max_output_tokens"] },
  "openai-compaction": { model: "model", limits: [] },
  "openai-embeddings": { model: "model", limits: [] },
  "openai-moderations": { model: "model", limits: [] },
  "openai-speech": { model: "model", limits: [] },
  rerank: { model: "model", limits: [] },
  anthropic: { model: "model", limits: ["max_tokens"] },
  gemini: {
    limits: [
      "generationConfig.maxOutputTokens",
      "generationConfig.max_output_tokens",
      "generation_config.maxOutputTokens",
      "generation_config.max_output_tokens",
    ],
  },
  "gemini-embeddings": { limits: [] },
  "bedrock-converse": { limits: ["inferenceConfig.maxTokens"] },
};

export interface Sent {
  readonly wire: string;
  readonly paths: readonly string[];
  readonly body: string;
}

function names(list: string): string[] {
  return [...MODELS, ...list.split(" ")].map((name, place) => `"${name}":${VALUES[(place * 5 + 1) % VALUES.length]}`);
}

/** Each member behind a request, and every pair of them behind it and before it. */
function* bodies(wire: string): Generator<string> {
  const said = Object.entries(LEAST[wire] ?? {}).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  const tried = TRIED[wire] ?? [];
  yield `{${said.join(",")}}`;
  for (const one of tried) {
    yield `{${[...said, one].join(",")}}`;
    for (const other of tried) {
      yield `{${[...said, one, other].join(",")}}`;
      yield `{${[one, other, ...said].join(",")}}`;
    }
  }
}

/**
 * Each body goes to each address, or the bodies take turns: each goes to every seventh, and the next to those beside
 * it. Where there are few addresses each body goes to all.
 */
const TURNS = bySweep({ short: 7, long: 1, all: 1 });

/** The bodies that some family's upstream would get, each once. */
function sentBodies(): Sent[] {
  const sent = new Map<string, Sent>();
  for (const { name: wire } of CLIENT_WIRES) {
    const endpoints = ENDPOINTS.filter(({ endpoint }) => goesTo(wire, endpoint.wire.name));
    const turns = endpoints.length < TURNS ? 1 : TURNS;
    for (const [turn, body] of [...bodies(wire)].entries()) {
      for (const [place, { family, endpoint }] of endpoints.entries()) {
        if (place % turns !== turn % turns) continue;
        const to = endpoint.wire.name;
        const { model, limits } = LOOKED_AT[to] ?? { limits: [] };
        const paths = [...(model === undefined ? [] : [model]), ...limits];
        try {
          const text = leaving(read(wire, body), family, endpoint).toString();
          sent.set(`${to} ${text}`, { wire: to, paths, body: text });
        } catch (error) {
          if (!(error instanceof GatewayError) || error.http !== 400) throw error;
        }
      }
    }
  }
  return [...sent.values()].filter(({ paths }) => paths.length > 0);
}

export const sent = sentBodies();
/** Of Google's vectors nothing in a body names a model or a limit. */
export const wires = [...new Set(sent.map(({ wire }) => wire))];

export function expectOurs({ wire, paths, body }: Sent, seen: readonly unknown[]): void {
  const { model, limits } = LOOKED_AT[wire] ?? { limits: [] };
  expect(seen, body).toHaveLength(paths.length);
  if (model !== undefined) expect(seen[0], body).toBe(MODEL);
  const told = seen.slice(model === undefined ? 0 : 1).filter((limit) => limit !== undefined && limit !== null);
  // At least one name of the limit is there, and none says another.
  if (limits.length > 0) expect(told, body).not.toEqual([]);
  for (const limit of told) expect(limit, body).toBe(LIMIT);
}
