/** `tollgate nodes`: the processes that serve one ledger together. */
import type { Command } from "commander";
import { type ListNodesResponse, type Node, NodeServiceService } from "../api/index.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { type Column, formatTable, formatTime, remark } from "./print.js";

export function addNodeCommands(program: Command): void {
  withConnection(
    program
      .command("nodes")
      .description("list the nodes that share the gateway's database; * marks the one that answers")
      .addHelpText("after", "\nExample:\n  tollgate nodes --json"),
  ).action(nodes);
}

async function nodes(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = NodeServiceService.listNodes;
    const answer = await connection.call(method, { pageSize: 0, pageToken: "" });
    connection.show(method, answer, formatNodes);
    const differing = answer.nodes.filter(isDiffering).map(({ id }) => id);
    if (differing.length > 0)
      remark(`The settings file of ${differing.join(", ")} is not the one that is in force: bring it up to date.`);
  });
}

/** True where the node's own file is not what it serves by. */
function isDiffering({ fileVersion, settingsVersion }: Node): boolean {
  return fileVersion !== settingsVersion;
}

function formatNodes({ nodes: list }: ListNodesResponse): string {
  const columns: Column[] = [
    "NODE",
    "VERSION",
    "SINCE",
    { title: "BEAT MS", numeric: true },
    "SETTINGS",
    "ACCEPTED",
    "FILE",
    "HTTP",
    "GRPC",
    { title: "MODELS", numeric: true },
  ];
  const rows = list.map((node) => [
    `${node.id}${node.answering ? " *" : ""}`,
    node.version,
    formatTime(node.startTime),
    `${node.beatAgeMs}`,
    node.settingsVersion || "-",
    formatTime(node.settingsAcceptTime),
    isDiffering(node) ? `${node.fileVersion || "none"} !` : "same",
    node.httpAddress || "-",
    node.grpcAddress || "-",
    `${node.modelCount}`,
  ]);
  return formatTable(columns, rows);
}
