/** What is ejected now, of all upstreams. */
import type { UpstreamEjection } from "../observe/metrics.js";
import type { Routing } from "../routing/routing.js";

export function ejectedUpstreams(routing: Routing): readonly UpstreamEjection[] {
  return [...routing.table.upstreams.values()].flatMap(({ id, health }) =>
    health.ejections(routing.nowMs()).map(({ model, cause }) => ({ upstream: id, model, cause })),
  );
}
