/**
 * The real gateway as it is built, every feature on: a priced model, an account with credit, a key with all its limits.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runDirectory, start } from "./child.mjs";
import { worstModels, worstUpstreams } from "./worst-settings.mjs";

const SECRET_OF_FILLED = "the secret of what only benchmarks use";

const ENTRIES = ["../../dist/program/main.js", "../../dist/src/cli/main.js"];
const INPUT_USD_PER_MILLION = "0.25";
const OUTPUT_USD_PER_MILLION = "2.00";

export const MODEL = "bench-1";
/** Of the other account. */
export const OTHER_MODEL = "other-1";
export const ACCOUNT = "bench";

/**
 * @typedef {object} Gateway
 * @property {number[]} pids
 * @property {string} http host:port
 * @property {string} grpc host:port of the core.
 * @property {string} metrics host:port
 * @property {string} key
 * @property {string} operatorKey
 * @property {string} otherKey Of another account.
 * @property {number} readyMs
 * @property {string} data The data directory of the core.
 * @property {() => Promise<void>} stop
 */

/** The built program, or undefined where it is not built. */
export function findGateway() {
  return ENTRIES.map((entry) => fileURLToPath(new URL(entry, import.meta.url))).find((path) => existsSync(path));
}

/** What a request costs by the usage that the mock tells, in nano-USD. */
export function costNanos(/** @type {{ input: number, output: number }} */ usage) {
  // USD per million tokens is micro-USD a token: a thousand nano-USD.
  const nanos = (/** @type {string} */ price) => Math.round(Number(price) * 1000);
  return BigInt(usage.input * nanos(INPUT_USD_PER_MILLION) + usage.output * nanos(OUTPUT_USD_PER_MILLION));
}

/**
 * Starts one gateway, or a front end and a core, on a database of its own.
 * @param {object} options
 * @param {string} options.entry
 * @param {number} options.upstreamPort
 * @param {number} [options.otherPort] The upstream of the other account's model, where it has one of its own.
 * @param {number} [options.worstPort] An upstream that means harm, where there is one.
 * @param {boolean} [options.split]
 * @param {string[]} [options.nodeOptions]
 * @param {string} [options.data] A data directory that is there already.
 * @param {Record<string, string>} [options.variables] More of its environment, such as OpenTelemetry's.
 * @returns {Promise<Gateway>}
 */
export async function startGateway(options) {
  const { entry, upstreamPort, otherPort = upstreamPort, split = false, nodeOptions = [] } = options;
  const { data, variables, worstPort } = options;
  const directory = join(runDirectory, `gateway-${process.hrtime.bigint()}`);
  mkdirSync(directory);
  const key = makeSecret();
  const operatorKey = makeSecret();
  const otherKey = makeSecret();
  const settingsPath = join(directory, "tollgate.yaml");
  writeFileSync(settingsPath, settings({ upstreamPort, otherPort, worstPort, key, otherKey }));
  const secret = {
    // A directory that a gateway used keeps its own; one that was filled here is used again with the same.
    ...(data !== undefined && existsSync(join(data, "secret")) ? {} : { TOLLGATE_SECRET: SECRET_OF_FILLED }),
    TOLLGATE_LOG_LEVEL: "info",
    TOLLGATE_ADMIN: "127.0.0.1:0",
    TOLLGATE_LAME_DUCK_MS: "0",
  };
  const dataDirectory = data ?? join(directory, "data");
  const core = {
    ...variables,
    ...secret,
    TOLLGATE_DATA: dataDirectory,
    TOLLGATE_CONFIG: settingsPath,
    TOLLGATE_OPERATOR_KEY: operatorKey,
    TOLLGATE_GRPC: "127.0.0.1:0",
    TOLLGATE_HTTP: split ? "off" : "127.0.0.1:0",
  };
  const command = [process.execPath, ...nodeOptions, entry, "serve"];
  const first = await start(split ? "core" : "gateway", command, core);
  const grpc = String(first.ready["grpc"]);
  const keys = { grpc, key, operatorKey, otherKey, data: dataDirectory };
  if (!split) {
    const http = String(first.ready["http"]);
    return { ...keys, ...first, pids: [first.pid], http, metrics: metricsOf(first.ready) };
  }
  const front = {
    ...secret,
    TOLLGATE_CORE: grpc,
    TOLLGATE_HTTP: "127.0.0.1:0",
    TOLLGATE_DATA: join(directory, "front"),
  };
  const second = await start("front", command, front);
  const stop = () => second.stop().then(first.stop);
  const readyMs = first.readyMs + second.readyMs;
  const http = String(second.ready["http"]);
  return { ...keys, pids: [first.pid, second.pid], http, metrics: metricsOf(second.ready), readyMs, stop };
}

/** Builds before there was an operator's own address told their metrics beside everything else.
 * @param {Record<string, unknown>} ready */
function metricsOf(ready) {
  return String(ready["admin"] ?? ready["http"]);
}

/** `sk-` and 32 characters that nobody guesses. */
function makeSecret() {
  return `sk-${randomBytes(16).toString("hex")}`;
}

/**
 * @param {object} options
 * @param {number} options.upstreamPort
 * @param {number} options.otherPort
 * @param {number | undefined} options.worstPort
 * @param {string} options.key
 * @param {string} options.otherKey
 */
function settings({ upstreamPort, otherPort, worstPort, key, otherKey }) {
  const served = `context_tokens: 1000000
    output_tokens_max: 16000
    price: { input: "${INPUT_USD_PER_MILLION}", output: "${OUTPUT_USD_PER_MILLION}" }`;
  return `upstreams:
  mock: { family: openai-compatible, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_key: "sk-upstream" }
  other: { family: openai-compatible, base_url: "http://127.0.0.1:${otherPort}/v1", api_key: "sk-upstream" }
${worstPort === undefined ? "" : worstUpstreams(worstPort)}models:
  ${MODEL}:
    targets: [{ upstream: mock }]
    ${served}
  ${OTHER_MODEL}:
    targets: [{ upstream: other }]
    ${served}
${worstPort === undefined ? "" : worstModels(served)}accounts:
  ${ACCOUNT}: { credit: "1000000.00" }
  other: { credit: "1000000.00" }
keys:
  - account: ${ACCOUNT}
    name: bench
    secret: "${key}"
    scopes: [chat, models]
    models: ["bench-*"]
    requests_per_minute: 100000000
    tokens_per_minute: 1000000000
    concurrency: 100000
    budget_day: "900000.00"
  - account: other
    name: other
    secret: "${otherKey}"
    scopes: [chat, models, embeddings, keys]
`;
}
