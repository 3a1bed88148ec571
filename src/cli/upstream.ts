/** `tollgate upstreams`: who answers, what of it is ejected and why, whether it is there, and draining it. */
import type { Command } from "commander";
import {
  type ListUpstreamsResponse,
  type Node,
  NodeServiceService,
  type TestUpstreamResponse,
  type Upstream,
  UpstreamServiceService,
  UpstreamTestResult,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { connected, type Connection, type ConnectionOptions, withConnection } from "./connection.js";
import { EXIT_CODES } from "./exit-code.js";
import { formatList, numeric, printable, remark } from "./print.js";

/** The gateway waits ten seconds for each list, and thirty for a call. */
const TEST_MS_MAX = 60_000;

export function addUpstreamCommands(program: Command): void {
  const upstreams = program.command("upstreams").alias("upstream").description("list, test and drain upstreams");
  withConnection(
    upstreams
      .command("list", { isDefault: true })
      .description("list the upstreams and their health; EJECTED shows what is ejected, and so gets no requests"),
  ).action(list);
  const named = (name: string, description: string): Command =>
    withConnection(
      upstreams.command(name).description(description).argument("<id>", "the name of the upstream in the settings"),
    );
  named(
    "test",
    "read the model list of an upstream and send a small request to one of its models; exits with 6 if that fails",
  )
    .option("--list-only", "send no request to a model")
    .action(test);
  named("drain", "stop sending new requests to an upstream, on all nodes, until undrain or reset").action(drain);
  named("undrain", "send requests to a drained upstream again").action(undrain);
  named("reset", "end the drain and the ejections of an upstream, so that it gets requests again").action(reset);
}

async function list(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.listUpstreams;
    const { nodes, ...answer } = await listUpstreams(connection);
    connection.show(method, answer, (shown) => formatUpstreams(shown, nodes));
    const own = nodes.find(({ answering }) => answering);
    if (own !== undefined && nodes.length > 1)
      remark(`HEALTH and RUNNING are those of ${own.id}, which answered; EJECTED names the node.`);
  });
}

/** With the nodes, since each has its own view of them. */
export async function listUpstreams(
  connection: Connection,
): Promise<ListUpstreamsResponse & { readonly nodes: readonly Node[] }> {
  const all = { pageSize: 0, pageToken: "" };
  const [answer, { nodes }] = await Promise.all([
    connection.call(UpstreamServiceService.listUpstreams, all),
    connection.call(NodeServiceService.listNodes, all),
  ]);
  return { ...answer, nodes };
}

async function test(id: string, options: ConnectionOptions & { readonly listOnly?: boolean }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.testUpstream;
    const answer = await connection.call(method, { id, listOnly: options.listOnly === true }, TEST_MS_MAX);
    connection.show(method, answer, () => formatTest(id, answer));
    const { UPSTREAM_TEST_RESULT_WELL: well, UPSTREAM_TEST_RESULT_UNTESTED: untested } = UpstreamTestResult;
    if (answer.result !== well && answer.result !== untested) process.exitCode = EXIT_CODES.unavailable;
  });
}

async function drain(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.drainUpstream;
    const answer = await connection.call(method, { id });
    const running = answer.upstream?.running ?? 0n;
    connection.show(
      method,
      answer,
      () => `${printable(id)} gets no new requests; ${running} run there, at the node that answers.`,
    );
  });
}

async function undrain(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.undrainUpstream;
    connection.show(method, await connection.call(method, { id }), () => `${printable(id)} gets requests again.`);
  });
}

async function reset(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.resetUpstream;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, () => `${printable(id)} is back in use.`);
  });
}

function formatTest(id: string, answer: TestUpstreamResponse): string {
  const { result, problem, durationMs, modelCount, missingModels } = answer;
  const word = enumWord("tollgate.v1.UpstreamTestResult", result);
  if (result !== UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL)
    return `${printable(id)}: ${word}: ${printable(problem)}.`;
  const missing =
    missingModels.length === 0
      ? ""
      : ` Its list lacks ${printable(missingModels.join(", "))}, which the settings name.`;
  const listed = modelCount === 0n ? "it answered" : `it lists ${modelCount} models and answered`;
  return `${printable(id)} is well: ${listed} in ${durationMs} ms.${missing}`;
}

/** With one node alone, nothing says whose a view is. */
export function formatUpstreams(
  { upstreams, nextPageToken }: ListUpstreamsResponse,
  nodes: readonly Pick<Node, "id">[] = [],
): string {
  const columns = ["UPSTREAM", "FAMILY", "HEALTH", numeric("RUNNING"), "EJECTED", "MODELS"];
  const rows = upstreams.map((upstream) => [
    upstream.id,
    upstream.family,
    enumWord("tollgate.v1.UpstreamHealth", upstream.health),
    `${upstream.running}`,
    ejectionsText(upstream, nodes.length > 1),
    upstream.models.join(" ") || "-",
  ]);
  return formatList(columns, rows, "No upstreams.", nextPageToken);
}

function ejectionsText({ ejections }: Upstream, namesNodes: boolean): string {
  const told = ejections.map(({ model, cause, coolingMs, nodeId }) => {
    const what = model === "" ? "all" : model;
    const until = coolingMs === 0n ? "until a request succeeds" : `${(coolingMs + 999n) / 1_000n} s`;
    const where = namesNodes ? ` at ${nodeId}` : "";
    return `${what}: ${enumWord("tollgate.v1.EjectionCause", cause)} (${until})${where}`;
  });
  return told.join(", ") || "-";
}
