/** Upstreams that asked one node to wait are left alone by all: their limit is the credential's, not the node's. */
import type { CoolDown, Coordination } from "../coordination/coordination.js";
import type { EjectionChange } from "../routing/ejection.js";
import type { Routing } from "../routing/routing.js";

/** What else sets an upstream aside may lie at this node alone, so each node finds that out for itself. */
export function shareCoolDown(
  coordination: Pick<Coordination, "publishCoolDown">,
  upstream: string,
  model: string | undefined,
  { cause, isAside, durationMs, accountId, namedMs }: EjectionChange,
): void {
  if (cause !== "rate_limited" || !isAside || model === undefined) return;
  coordination.publishCoolDown({
    upstream,
    model,
    durationMs,
    accountId,
    ...(namedMs === undefined ? {} : { namedMs }),
  });
}

/** Takes what another node was asked; an upstream that this node does not have is none of its business. */
export function takeCoolDown(
  routing: Pick<Routing, "table" | "nowMs">,
  { upstream, model, durationMs, accountId, namedMs }: CoolDown,
): void {
  const { health } = routing.table.upstreams.get(upstream) ?? {};
  health?.of(model).imposeRateLimit(routing.nowMs(), durationMs, accountId, namedMs);
}
