/** What holds of an upstream at every node: the one that is asked, or that finds it failing, tells the others. */
import { UpstreamTestResult } from "../api/index.js";
import type { Coordination } from "../coordination/coordination.js";
import { testRequest } from "../gateway/test-request.js";
import { requestWires } from "../reading/readers.js";
import { type BoardNode, createUpstreamBoard, type UpstreamBoard } from "../routing/catalog.js";
import type { Routing } from "../routing/routing.js";

/**
 * The upstreams of this node, which heeds what other nodes are told, and tells them what it is. An upstream that a node
 * does not have is none of its business.
 */
export function sharedUpstreams(
  routing: Routing,
  coordination: Pick<Coordination, "publishOrder" | "onOrder">,
  node: BoardNode,
): UpstreamBoard {
  const board = createUpstreamBoard(routing, node, testRequest(requestWires.wires));
  coordination.onOrder(({ upstream, order, model }) => {
    const served = routing.table.upstreams.get(upstream);
    if (served === undefined) return;
    if (order === "suspect") served.health.suspect(model ?? "", routing.nowMs());
    else if (order === "reset") board.reset(upstream);
    else if (order === "answered") served.health.prove(routing.nowMs());
    else board.drain(upstream, order === "drain");
  });
  return {
    ...board,
    reset(id) {
      const upstream = board.reset(id);
      coordination.publishOrder({ upstream: id, order: "reset" });
      return upstream;
    },
    drain(id, isDrained) {
      const upstream = board.drain(id, isDrained);
      coordination.publishOrder({ upstream: id, order: isDrained ? "drain" : "undrain" });
      return upstream;
    },
    async test(id, isListOnly) {
      const answer = await board.test(id, isListOnly);
      const isWell = answer.result === UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL;
      // Each node shows health as its own requests found it: another one would go on to call it untested.
      if (isWell) coordination.publishOrder({ upstream: id, order: "answered" });
      return answer;
    },
  };
}
