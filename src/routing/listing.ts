/** Asks an upstream which models it serves. */
import type { ListedModel } from "../families/family.js";
import type { ServedUpstream } from "./model.js";
import { exchange, ExchangeFailure } from "./upstream-exchange.js";

const NOT_FOUND = 404;
const LIST_TIMEOUT_MS = 10_000;
const LIST_BYTES_MAX = 8 * 1024 * 1024;
const LIST_MODELS_MAX = 10_000;

/**
 * The models of the upstream's own list; empty where its family has none. Rejects with an ExchangeFailure. Other
 * `headers` than the upstream's own leave its credential out.
 */
export async function listModels(
  served: Pick<ServedUpstream, "family" | "upstream" | "headers">,
  headers = served.headers,
): Promise<readonly ListedModel[]> {
  const path = served.family.modelsPath;
  if (path === undefined) return [];
  const bounds = { what: "the list", bytesMax: LIST_BYTES_MAX, timeoutMs: LIST_TIMEOUT_MS };
  const { status, body } = await exchange(served, { method: "GET", path, headers, body: undefined, ...bounds });
  if (status !== 200) {
    // The usual cause: an address with or without its /v1.
    const hint = status === NOT_FOUND ? `; ${path} is read below the base_url: check how that ends` : "";
    throw new ExchangeFailure(`the list of models answered with status ${status}${hint}`, status);
  }
  try {
    return served.family.readModels(body).slice(0, LIST_MODELS_MAX);
  } catch (error) {
    throw new ExchangeFailure("the list cannot be read", status, { cause: error });
  }
}
