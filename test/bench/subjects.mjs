/** What is measured side by side: each is started for one scenario, driven in the same way, and stopped after it. */
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { start } from "./child.mjs";
import { MODEL, findGateway, startGateway } from "./gateway-under-test.mjs";
import { proveLedger } from "./ledger-proof.mjs";
import { findNginx, startNginx } from "./nginx.mjs";

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {number[]} pids Empty where the process is unknown, and with it its CPU time.
 * @property {"http" | "grpc"} door
 * @property {string} host
 * @property {number} port
 * @property {string} basePath What stands before `/chat/completions`.
 * @property {Record<string, string>} headers
 * @property {string} model
 * @property {boolean} translates True where it serves other formats than the upstream's.
 * @property {number} readyMs
 * @property {string} [otherKey] A key of another account.
 * @property {string} [grpc] Where its gRPC is, host:port.
 * @property {string} [metricsUrl] Where its event loop's delay is told.
 * @property {(expectedNanos: bigint) => Promise<string[]>} prove What is wrong with what it charged.
 * @property {() => Promise<number>} recordCount How many of the last hundred requests have a record of their own.
 * @property {string} [data] The data directory, where it keeps one.
 * @property {() => Promise<void>} stop
 */

/**
 * @typedef {object} Bench
 * @property {number} mockPort
 * @property {number} mockPid
 * @property {number} [otherMockPort]
 * @property {number} [worstPort] An upstream that means harm.
 * @property {import("./arguments.mjs").Options} options
 */
/** A subject that cannot be measured here, and why. @typedef {{ skipped: string }} Skipped */

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const plain = {
  door: /** @type {const} */ ("http"),
  host: "127.0.0.1",
  basePath: "/v1",
  headers: {},
  model: MODEL,
  translates: false,
  readyMs: Number.NaN,
  prove: async () => [],
  recordCount: async () => 0,
  stop: async () => {},
};

/** @type {Record<string, (bench: Bench) => Promise<Subject | Skipped>>} */
const STARTERS = {
  direct: async ({ mockPort, mockPid }) => ({ ...plain, name: "direct", port: mockPort, pids: [mockPid] }),
  "pass-through": async ({ mockPort }) => {
    const child = await start("pass-through", [
      process.execPath,
      here("baseline-pass-through.mjs"),
      `http://127.0.0.1:${mockPort}`,
    ]);
    const port = Number(child.ready["port"]);
    const metricsUrl = `http://127.0.0.1:${port}/metrics`;
    const { pid, readyMs, stop } = child;
    return { ...plain, name: "pass-through", port, pids: [pid], metricsUrl, readyMs, stop };
  },
  nginx: async ({ mockPort }) => {
    const nginx = findNginx();
    if (nginx === undefined) return { skipped: "nginx is not installed" };
    const { port, pid, stop } = await startNginx(nginx.program, mockPort);
    return { ...plain, name: "nginx", port, pids: [pid], stop };
  },
  gateway: (bench) => gatewaySubject("gateway", bench, false),
  split: (bench) => gatewaySubject("split", bench, true),
  "gateway-grpc": (bench) => gatewaySubject("gateway-grpc", bench, false),
  "grpc-echo": async ({ mockPort }) => {
    const messages = here("../../dist/gen/tollgate/v1/inference_service.js");
    if (!existsSync(messages)) return { skipped: "dist is not built (npm run build)" };
    const upstream = `http://127.0.0.1:${mockPort}`;
    const command = [process.execPath, here("baseline-grpc-echo.mjs"), upstream, pathToFileURL(messages).href];
    const { ready, pid, readyMs, stop } = await start("grpc-echo", command);
    return { ...plain, name: "grpc-echo", door: "grpc", port: Number(ready["port"]), pids: [pid], readyMs, stop };
  },
  peer: async ({ options }) => {
    const { peer } = options;
    if (peer === undefined) return { skipped: "" };
    const url = new URL(peer.url);
    const address = { host: url.hostname, port: Number(url.port || 80), basePath: url.pathname.replace(/\/+$/, "") };
    const headers = peer.key === undefined ? {} : { authorization: `Bearer ${peer.key}` };
    const pids = peer.pid === undefined ? [] : [peer.pid];
    return { ...plain, name: peer.name, ...address, headers, model: peer.model, pids };
  },
};

/**
 * @param {string} name
 * @param {Bench} bench
 */
export function startSubject(name, bench) {
  const starter = STARTERS[name];
  if (starter === undefined) throw new Error(`there is no subject ${name}`);
  return starter(bench);
}

/**
 * @param {"gateway" | "gateway-grpc" | "split"} name
 * @param {Bench} bench
 * @param {boolean} split
 * @returns {Promise<Subject | Skipped>}
 */
async function gatewaySubject(name, { mockPort, otherMockPort, worstPort, options }, split) {
  const entry = options.entry ?? findGateway();
  if (entry === undefined) return { skipped: "dist is not built (npm run build)" };
  const { nodeOptions, variables } = options;
  const upstreams = { upstreamPort: mockPort, otherPort: otherMockPort, worstPort };
  const gateway = await startGateway({ entry, ...upstreams, split, nodeOptions, variables });
  const door = name === "gateway-grpc" ? "grpc" : "http";
  const [host = "", port = ""] = (door === "grpc" ? gateway.grpc : gateway.http).split(":");
  return {
    ...plain,
    name,
    door,
    host,
    port: Number(port),
    pids: gateway.pids,
    headers: { authorization: `Bearer ${gateway.key}` },
    translates: true,
    otherKey: gateway.otherKey,
    grpc: gateway.grpc,
    readyMs: gateway.readyMs,
    metricsUrl: `http://${gateway.metrics}/metrics`,
    prove: (expectedNanos) => proveLedger(gateway, expectedNanos),
    recordCount: async () => {
      const headers = { authorization: `Bearer ${gateway.operatorKey}` };
      const response = await fetch(`http://${gateway.http}/api/v1/requests?page_size=100`, { headers });
      const { requests } = /** @type {{ requests: { detail?: object }[] }} */ (await response.json());
      return requests.filter(({ detail }) => detail !== undefined).length;
    },
    data: gateway.data,
    stop: gateway.stop,
  };
}
