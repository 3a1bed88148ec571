/** `tollgate upstreams`: who answers, what of it is set aside and why, and taking it back into use. */
import type { Command } from "commander";
import { type ListUpstreamsResponse, type Upstream, UpstreamServiceService } from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { type Column, formatTable, printable } from "./print.js";

export function addUpstreamCommands(program: Command): void {
  const upstreams = program.command("upstreams").alias("upstream").description("show upstreams and their health");
  withConnection(
    upstreams.command("list", { isDefault: true }).description("list the upstreams, and what of them is set aside"),
  ).action(list);
  withConnection(
    upstreams
      .command("reset")
      .description("take an upstream, and all its models, back into use at once")
      .argument("<id>", "the upstream, as the settings name it"),
  ).action(reset);
}

async function list(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.listUpstreams;
    const answer = await connection.call(method, { pageSize: 0, pageToken: "" });
    connection.show(method, answer, formatUpstreams);
  });
}

async function reset(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UpstreamServiceService.resetUpstream;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, () => `${printable(id)} is back in use.`);
  });
}

export function formatUpstreams({ upstreams }: ListUpstreamsResponse): string {
  if (upstreams.length === 0) return "No upstreams.";
  const columns: Column[] = [
    "UPSTREAM",
    "FAMILY",
    "HEALTH",
    { title: "RUNNING", numeric: true },
    "SET ASIDE",
    "MODELS",
  ];
  const rows = upstreams.map((upstream) => [
    upstream.id,
    upstream.family,
    enumWord("tollgate.v1.UpstreamHealth", upstream.health),
    `${upstream.running}`,
    asidesOf(upstream),
    upstream.models.join(" ") || "-",
  ]);
  return formatTable(columns, rows);
}

function asidesOf({ asides }: Upstream): string {
  const told = asides.map(({ model, cause, coolingMs }) => {
    const what = model === "" ? "all" : model;
    const until = coolingMs === 0n ? "until a request succeeds" : `${(coolingMs + 999n) / 1_000n} s`;
    return `${what}: ${enumWord("tollgate.v1.AsideCause", cause)} (${until})`;
  });
  return told.join(", ") || "-";
}
