/**
 * Upstreams that asked one node to wait are left alone by all: their limit is the credential's, not the node's. Where
 * requests fail, that may lie at this node alone: the others are told, and eject the upstream by one failure of their
 * own; what fails for one account alone says nothing of the upstream to them. What an upstream refuses (a credential, a
 * model) each node finds out by its first request, since each has credentials and settings of its own.
 */
import type { CoolDown, Coordination } from "../coordination/coordination.js";
import type { EjectionChange } from "../routing/ejection.js";
import type { Routing } from "../routing/routing.js";

export function shareHealth(
  coordination: Pick<Coordination, "publishCoolDown" | "publishOrder">,
  upstream: string,
  model: string | undefined,
  { cause, isEjected, durationMs, accountId, namedMs }: EjectionChange,
): void {
  if (!isEjected) return;
  if (cause === "failing") {
    if (accountId === undefined) coordination.publishOrder({ upstream, order: "suspect", model });
    return;
  }
  if (cause !== "rate_limited" || model === undefined) return;
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
