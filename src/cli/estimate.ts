/** `tollgate estimate`: what a request would cost, and whether it would be admitted, without asking any model. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type EstimateCostResponse, InferenceServiceService } from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { formatUsd } from "../base/money.js";
import { readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { formatTable, numeric, printable } from "./print.js";

const EXAMPLES = `
Examples:
  tollgate estimate gpt-5.4-mini "Why is the sky blue?" --max-tokens 200
  tollgate estimate --file request.json --wire anthropic

Nothing is charged. The limits, budgets and balance of the key in use decide whether the request
would be admitted.`;

interface EstimateOptions extends ConnectionOptions {
  readonly maxTokens?: bigint;
  readonly file?: string;
  readonly wire: string;
  readonly embedding?: true;
}

export function addEstimateCommand(program: Command): void {
  withConnection(
    program
      .command("estimate")
      .description("show what a request would cost and whether it would be admitted, without calling a model")
      .argument("[model]", "the model (default: the model in the file)", "")
      .argument("[text]", "the text of the request", "")
      .option("--max-tokens <n>", "the maximum number of output tokens", readWhole)
      .option("--file <path>", "read a request body from this file, instead of [text]; - reads standard input")
      .option("--wire <name>", "the format of the file, such as openai-chat, anthropic or gemini", "openai-chat")
      .option("--embedding", "estimate an embedding of the text instead of an answer")
      .addHelpText("after", EXAMPLES),
  ).action(estimate);
}

async function estimate(model: string, text: string, options: EstimateOptions): Promise<void> {
  const request = requestOf(model, text, options);
  await connected(options, async (connection) => {
    const method = InferenceServiceService.estimateCost;
    connection.show(method, await connection.call(method, request), formatEstimate);
  });
}

type EstimateRequest = Parameters<typeof InferenceServiceService.estimateCost.requestSerialize>[0];

function requestOf(model: string, text: string, options: EstimateOptions): EstimateRequest {
  const { file, wire, embedding, maxTokens } = options;
  if (file === undefined && (model === "" || text === ""))
    throw new CommandFailure("name a model and a text, or a --file", "usage");
  if (embedding) {
    const body = file === undefined ? JSON.stringify({ model, input: text }) : readBody(file);
    const source = { wire: "openai-embeddings", body: Buffer.from(body), headers: {} };
    const asked = { model: "", texts: [], dimensions: undefined, source, acceptWire: "" };
    return { generation: undefined, embedding: asked };
  }
  const limit = maxTokens === undefined ? {} : { max_tokens: Number(maxTokens) };
  const asked = { model, messages: [{ role: "user", content: text }], ...limit };
  const body = Buffer.from(file === undefined ? JSON.stringify(asked) : readBody(file));
  const source = { wire: file === undefined ? "openai-chat" : wire, body, headers: {} };
  const input = { $case: "source" as const, value: source };
  // A wire whose path names its model, as Gemini's does, is told it beside the body.
  const generation = { model: file === undefined ? "" : model, input, outputTokensMax: undefined, clamp: undefined };
  return { generation, embedding: undefined };
}

function readBody(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (cause) {
    throw new CommandFailure(`${path} cannot be read`, "usage", { cause });
  }
}

function formatEstimate(answer: EstimateCostResponse): string {
  const source = enumWord("tollgate.v1.TokenSource", answer.inputSource);
  const verdict = answer.admitted
    ? `yes, and ${formatUsd(answer.holdNanos)} USD would be set aside`
    : `no: ${printable(answer.errorMessage)}`;
  const facts = [
    ["model", answer.model],
    ["upstream", answer.upstream || "-"],
    ["tokens in", `${answer.inputTokens} (${source}), at most ${answer.inputTokensMax}`],
    ["tokens out", `at most ${answer.outputTokensMax}, likely ${answer.expectedOutputTokens}`],
    ["least USD", formatUsd(answer.leastCostNanos)],
    ["likely USD", formatUsd(answer.expectedCostNanos)],
    ["most USD", formatUsd(answer.mostCostNanos)],
    ["admitted", verdict],
  ];
  const route = answer.route.map((target) => [
    target.upstream,
    target.model,
    `${target.priority}`,
    `${target.weight}`,
    enumWord("tollgate.v1.UpstreamHealth", target.health),
  ]);
  const columns = ["UPSTREAM", "MODEL", numeric("PRIORITY"), numeric("WEIGHT"), "HEALTH"];
  return `${formatTable(["FACT", "VALUE"], facts)}\n\n${formatTable(columns, route)}`;
}
