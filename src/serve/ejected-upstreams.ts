/** What is known against upstreams now: what is ejected, and what the last test or check found. */
import { UpstreamTestResult } from "../api/index.js";
import type { CheckedUpstream } from "../alerts/node-watch.js";
import type { UpstreamEjection } from "../observe/metrics.js";
import type { Routing } from "../routing/routing.js";

/** A server without a list of models fails its check, and may well serve: that is no fault. */
const FAULTS: Readonly<Partial<Record<UpstreamTestResult, CheckedUpstream["fault"]>>> = {
  [UpstreamTestResult.UPSTREAM_TEST_RESULT_UNREACHABLE]: "failing",
  [UpstreamTestResult.UPSTREAM_TEST_RESULT_CREDENTIAL]: "credential",
};

export function ejectedUpstreams(routing: Routing): readonly UpstreamEjection[] {
  return [...routing.table.upstreams.values()].flatMap(({ id, health }) =>
    health.ejections(routing.nowMs()).map(({ model, cause }) => ({ upstream: id, model, cause })),
  );
}

/** What the last test or check of each upstream found; one that was never checked is not in it. */
export function checkedUpstreams(routing: Routing): readonly CheckedUpstream[] {
  return [...routing.table.upstreams.values()].flatMap(({ id, health: { lastCheck } }) => {
    if (lastCheck === undefined) return [];
    const { result, problem, missingModels } = lastCheck;
    return [{ upstream: id, fault: FAULTS[result], problem, missingModels }];
  });
}
