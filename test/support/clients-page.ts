/** The part of docs/clients.md that is made from the tables of the clients which the tests run. */
import { readFileSync } from "node:fs";
import { AGENTS } from "../agents/agent.js";
import { type Client, NODE_CLIENTS, NOT_RUN, PYTHON_CLIENTS, RAN_ON } from "../frameworks/clients.js";
import { clientsIn, pythonClientsIn, REQUIREMENTS } from "../pins/pins.mjs";
import { markdownTable } from "./reference-page.js";

type Pins = ReadonlyMap<string, string>;

export function clientsPart(): string {
  const node = pinsOf("test/frameworks/package.json");
  const agents = pinsOf("test/agents/package.json");
  const python = new Map(
    REQUIREMENTS.flatMap((path) => pythonClientsIn(readFileSync(path, "utf8"))).map(({ name, pinned }) => [
      name,
      pinned,
    ]),
  );
  const agentRows = AGENTS.map(({ name, package: one }) => [name, versions([one], new Map([...agents, ...python]))]);
  return [
    "## Tested clients",
    "",
    `These clients ran unmodified through the gateway on ${RAN_ON}, with Node 24 and Python 3.11.`,
    "`npm run agents` repeats these tests, with upstreams of four wire formats.",
    "",
    "### SDKs and frameworks for Node",
    "",
    table(NODE_CLIENTS, node),
    "### SDKs and frameworks for Python",
    "",
    table(PYTHON_CLIENTS, python),
    "### Coding agents that were tested",
    "",
    markdownTable(["agent", "package"], agentRows),
    "### Not tested",
    "",
    markdownTable(["client", "why"], Object.entries(NOT_RUN)),
  ].join("\n");
}

function pinsOf(manifest: string): Pins {
  return new Map(clientsIn(JSON.parse(readFileSync(manifest, "utf8"))).map(({ name, pinned }) => [name, pinned]));
}

function table(clients: readonly Client[], pins: Pins): string {
  const rows = clients.map(({ name, packages, told, does }) => [
    versions(packages, pins),
    `\`${name}\``,
    told,
    does.map((doing) => WORDS[doing]).join("; "),
  ]);
  return markdownTable(["packages", "class or API", "configuration", "what was tested"], rows);
}

const WORDS: Readonly<Record<Client["does"][number], string>> = {
  whole: "an answer",
  stream: "a stream",
  tools: "a tool",
  streamedTools: "a tool, streamed",
  thread: "a thread, which the SDK continues by sending the whole conversation",
  refusedThread: "a thread stored on the server, which the gateway refuses",
  structured: "structured output",
  partial: "structured output, streamed",
  vectors: "embeddings",
};

function versions(packages: readonly string[], pins: Pins): string {
  return packages.map((name) => `\`${name}\` ${pins.get(name) ?? "not pinned"}`).join(", ");
}
