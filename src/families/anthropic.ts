/** Anthropic itself. */
import { z } from "zod";
import {
  BETA_HEADER,
  countRequest,
  readCount,
  VERSION_DEFAULT,
  VERSION_HEADER,
  wire,
} from "../wire/anthropic/index.js";
import type { WireRequest } from "../wire/wire.js";
import type { Family, ListedModel } from "./family.js";
import { timeOf } from "./model-list.js";

const LISTED_MAX = 10_000;
/** Printable ASCII: what may stand in a header. */
const HEADER_VALUE = /^[\x20-\x7e]{1,4096}$/;

const modelListSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string().min(1).max(256),
        created_at: z.string().nullish().catch(undefined),
        retires_at: z.string().nullish().catch(undefined),
      }),
    )
    .max(LISTED_MAX),
});

/** Reads `{"data": [{"id", "created_at"}]}`. Throws where it is something else. */
function readModels(body: Buffer): readonly ListedModel[] {
  return modelListSchema
    .parse(JSON.parse(body.toString("utf8")))
    .data.map(({ id, created_at: created, retires_at: retires }) => {
      const createdMs = timeOf(created)?.getTime() ?? 0;
      const createdSeconds = createdMs > 0 ? Math.floor(createdMs / 1000) : undefined;
      return { id, owner: "anthropic", createdSeconds, retireTime: timeOf(retires) };
    });
}

/** A client of the wire says itself which version and which trials it means; the upstream gets exactly that. */
function requestHeaders({ source }: WireRequest): Readonly<Record<string, string>> {
  if (source?.wire !== wire.name) return {};
  const headers: Record<string, string> = {};
  for (const name of [VERSION_HEADER, BETA_HEADER]) {
    const value = source.headers[name];
    if (value !== undefined && HEADER_VALUE.test(value)) headers[name] = value;
  }
  return headers;
}

export const anthropic: Family = {
  name: "anthropic",
  answers: "exact",
  wire,
  dialect: {},
  keyVariable: "ANTHROPIC_API_KEY",
  baseUrl: "https://api.anthropic.com",
  needsKey: true,
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  pricedAs: "anthropic",
  hasUnifiedLimits: true,
  tokenizerIsClose: false,
  generatePath: () => "/v1/messages",
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    [VERSION_HEADER]: VERSION_DEFAULT,
    ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
  }),
  requestHeaders,
  modelsPath: "/v1/models?limit=1000",
  readModels,
  counter: { path: () => "/v1/messages/count_tokens", encode: countRequest, read: readCount },
  connect: undefined,
  builtInModels: [],
};
