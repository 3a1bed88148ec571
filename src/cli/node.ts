/** `tollgate nodes`: the processes that serve one ledger together. */
import type { Command } from "commander";
import { type ListNodesResponse, NodeServiceService } from "../api/index.js";
import { otherSettings } from "../api/settings-in-force.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { type Column, formatTable, formatTime, remark } from "./print.js";

export function addNodeCommands(program: Command): void {
  withConnection(
    program
      .command("nodes")
      .description("list the nodes that share the database; * marks the node that answered")
      .addHelpText("after", "\nExample:\n  tollgate nodes --json"),
  ).action(nodes);
}

async function nodes(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = NodeServiceService.listNodes;
    const answer = await connection.call(method, { pageSize: 0, pageToken: "" });
    connection.show(method, answer, formatNodes);
    const { newest, others } = otherSettings(answer.nodes);
    if (newest !== undefined && others.length > 0)
      remark(
        `${newest.id} accepted its settings last (${newest.settingsVersion}). Other ones are in force on` +
          ` ${others.map(({ id }) => id).join(", ")}: bring the files up to date.`,
      );
  });
}

function formatNodes({ nodes: list }: ListNodesResponse): string {
  const columns: Column[] = [
    "NODE",
    "VERSION",
    "SINCE",
    { title: "BEAT MS", numeric: true },
    { title: "CLOCK MS", numeric: true },
    "SETTINGS",
    "ACCEPTED",
    "FILE",
    "HTTP",
    "GRPC",
    { title: "MODELS", numeric: true },
  ];
  const others = new Set(otherSettings(list).others.map(({ id }) => id));
  const rows = list.map((node) => [
    `${node.id}${node.answering ? " *" : ""}`,
    node.version,
    formatTime(node.startTime),
    `${node.beatAgeMs}`,
    `${node.clockSkewMs}`,
    node.settingsVersion || "-",
    formatTime(node.settingsAcceptTime),
    others.has(node.id) ? `${node.fileVersion || "none"} !` : "same",
    node.httpAddress || "-",
    node.grpcAddress || "-",
    `${node.modelCount}`,
  ]);
  return formatTable(columns, rows);
}
