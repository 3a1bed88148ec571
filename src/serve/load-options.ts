/** What routes are made with: the families, the prices that are publicly known, and the HTTP client. */
import { families } from "../families/index.js";
import { knownFacts } from "../models/facts.js";
import { knownModels, loadPublished } from "../pricing/known-models.js";
import type { PriceList } from "../pricing/price-list.js";
import type { LoadOptions } from "../routing/load.js";
import { createHttpUpstream } from "../upstream/http.js";

// A stream holds a connection to its upstream for as long as it runs.
const CONNECTIONS_MAX = 10_000;

/**
 * `nowMs`: the time of day, since prices have dates. `list`: the list of prices in force, where that is not the
 * program's own.
 */
export function createLoadOptions(
  environment: NodeJS.ProcessEnv,
  nowMs: () => number,
  onHealth: LoadOptions["onHealth"],
  list: () => PriceList | undefined = () => undefined,
): LoadOptions {
  return {
    families,
    environment,
    connect: (baseUrl, connectTimeoutMs) =>
      createHttpUpstream({ baseUrl, connectTimeoutMs, connections: CONNECTIONS_MAX }),
    known: (pricedAs, ids) => knownModels(pricedAs, ids, nowMs(), list()),
    facts: knownFacts,
    published: () => loadPublished(nowMs, list()),
    nowMs,
    onHealth,
  };
}
