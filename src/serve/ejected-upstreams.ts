/** What is set aside now, of all upstreams. */
import type { UpstreamAside } from "../observe/metrics.js";
import type { Routing } from "../routing/routing.js";

export function ejectedUpstreams(routing: Routing): readonly UpstreamAside[] {
  return [...routing.table.upstreams.values()].flatMap(({ id, health }) =>
    health.asides(routing.nowMs()).map(({ model, cause }) => ({ upstream: id, model, cause })),
  );
}
