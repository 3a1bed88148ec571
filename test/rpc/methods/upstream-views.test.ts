/** What is ejected is listed with the node that did it, of all nodes; where they cannot be asked, of this one. */
import { expect, test } from "vitest";
import { EjectionCause, type ListUpstreamsResponse, Node, UpstreamHealth } from "../../../src/api/index.js";
import type { CoreParts } from "../../../src/rpc/call/core.js";
import { upstreamService } from "../../../src/rpc/methods/upstream-service.js";
import { formatUpstreams } from "../../../src/cli/upstream.js";

const ejection = (model: string, nodeId: string) => ({
  model,
  cause: EjectionCause.EJECTION_CAUSE_FAILING,
  coolingMs: 12_000n,
  nodeId,
});
const node = (id: string, more: Partial<Node>): Node => ({ ...Node.decode(new Uint8Array()), id, ...more });
const NODES = [
  node("node_a", { answering: true, ejections: [{ upstream: "one", ejection: ejection("m", "node_a") }] }),
  node("node_b", {
    ejections: [
      { upstream: "one", ejection: ejection("", "node_b") },
      { upstream: "gone", ejection: ejection("", "node_b") },
    ],
  }),
];

async function listed(nodes: () => Promise<readonly Node[]>): Promise<ListUpstreamsResponse> {
  const upstreams = ["one", "two"].map((id) => ({
    id,
    family: "sim",
    baseUrl: "",
    health: UpstreamHealth.UPSTREAM_HEALTH_HEALTHY,
    coolingMs: 0n,
    running: 0n,
    models: [],
    ejections: id === "one" ? [ejection("m", "node_a")] : [],
  }));
  // As much of a core as a list reads.
  const parts = { upstreams: { list: () => upstreams }, nodes: { list: nodes } } as unknown as CoreParts;
  const { listUpstreams } = upstreamService(parts);
  return (await listUpstreams({ pageSize: 0, pageToken: "" }, {} as never)) as ListUpstreamsResponse;
}

test("what other nodes ejected is there with their ids, each once", async () => {
  const answer = await listed(() => Promise.resolve(NODES));
  const told = answer.upstreams.map(({ id, ejections }) => [
    id,
    ejections.map(({ model, nodeId }) => `${model}@${nodeId}`),
  ]);
  expect(told).toEqual([
    ["one", ["m@node_a", "@node_b"]],
    ["two", []],
  ]);
  const text = formatUpstreams(answer, NODES);
  expect(text).toContain("m: failing (12 s) at node_a, all: failing (12 s) at node_b");
  expect(formatUpstreams(answer, NODES.slice(0, 1)), "one node alone needs no name").not.toContain(" at node_a");
});

test("where the other nodes cannot be asked, this one tells of itself", async () => {
  const answer = await listed(() => Promise.reject(new Error("the database is away")));
  expect(answer.upstreams[0]?.ejections.map(({ nodeId }) => nodeId)).toEqual(["node_a"]);
});
