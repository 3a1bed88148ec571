/**
 * Strangers at the gate: connections without a key that begin messages and never end them, on both edges, beside one
 * client that pays. With `--strict` it fails where memory, time or the client's latency go over their bounds.
 */
import { connect as connectTcp } from "node:net";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { connect as connectHttp2 } from "node:http2";
import { start } from "./child.mjs";
import { findGateway, MODEL, startGateway } from "./gateway-under-test.mjs";

const CONNECTIONS = 500;
/** Of the client that pays, before the strangers come. */
const CALLERS = 16;
const LAST_MS = 60_000;
const RESIDENT_MIB_MAX = 64;
const CUT_MS_MAX = 20_000;
const P99_RATIO_MAX = 2;
const BODY_BYTES = 30 * 1024 * 1024;
const PIECE = Buffer.alloc(16 * 1024);

if (isMainThread) await main();
else attack(workerData);

async function main() {
  const entry = findGateway();
  if (entry === undefined) throw new Error("dist is not built (npm run build)");
  const mock = await start("mock", [
    process.execPath,
    fileURLToPath(new URL("mock-upstream.mjs", import.meta.url)),
    "0",
  ]);
  const gateway = await startGateway({ entry, upstreamPort: Number(mock.ready["port"]) });
  const [pid = 0] = gateway.pids;
  // A gateway at work: what its heap takes to serve is not what strangers make it take.
  await Promise.all(Array.from({ length: CALLERS }, () => latencies(gateway, 10_000)));
  const before = p99(await latencies(gateway, 10_000));
  const restMib = residentMib(pid);
  const strangers = new Worker(fileURLToPath(import.meta.url), {
    workerData: { http: gateway.http, grpc: gateway.grpc },
  });
  const told = new Promise((resolve) => strangers.once("message", resolve));
  let mostMib = restMib;
  const watch = setInterval(() => (mostMib = Math.max(mostMib, residentMib(pid))), 250);
  const during = p99(await latencies(gateway, LAST_MS));
  clearInterval(watch);
  strangers.postMessage("end", []);
  const { cutMs, left } = /** @type {{ cutMs: number, left: number }} */ (await told);
  await strangers.terminate();
  await gateway.stop();
  await mock.stop();
  const lines = [
    { name: "resident memory grows by (MiB)", value: mostMib - restMib, most: RESIDENT_MIB_MAX },
    { name: "the last stranger is cut after (s)", value: cutMs / 1000, most: CUT_MS_MAX / 1000 },
    { name: "strangers that are left", value: left, most: 0 },
    { name: "p99 of a client that pays, times", value: during / before, most: P99_RATIO_MAX },
  ];
  for (const { name, value, most } of lines) {
    process.stdout.write(`${value <= most ? "met   " : "MISSED"} ${name} ${value.toFixed(2)} (at most ${most})\n`);
  }
  process.stdout.write(`       p99 alone ${before.toFixed(2)} ms, beside strangers ${during.toFixed(2)} ms\n`);
  const isMissed = lines.some(({ value, most }) => value > most);
  process.exit(isMissed && process.argv.includes("--strict") ? 1 : 0);
}

/** How long whole answers take, one after the other.
 * @param {{ http: string, key: string }} gateway @param {number} forMs */
async function latencies({ http, key }, forMs) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: MODEL, max_tokens: 16, messages: [{ role: "user", content: "Say hello." }] });
  const times = [];
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs;) {
    const startMs = performance.now();
    const response = await fetch(`http://${http}/v1/chat/completions`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the client was answered ${response.status}`);
    times.push(performance.now() - startMs);
    await sleep(5);
  }
  return times;
}

/** @param {number[]} times */
function p99(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/** @param {number} pid */
function residentMib(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Opens half of the connections on each edge; tells when the last of them was cut.
 * @param {{ http: string, grpc: string }} addresses */
function attack({ http, grpc }) {
  const beganMs = performance.now();
  let left = CONNECTIONS;
  let cutMs = 0;
  const cut = () => {
    left -= 1;
    cutMs = performance.now() - beganMs;
  };
  for (let count = 0; count < CONNECTIONS / 2; count++) {
    strangerOverHttp(http, count, cut);
    strangerOverGrpc(grpc, cut);
  }
  parentPort?.once("message", () => parentPort?.postMessage({ cutMs, left }, []));
}

/** A third sends headers without end, a third a body, a third nothing.
 * @param {string} address @param {number} count @param {() => void} onClose */
function strangerOverHttp(address, count, onClose) {
  const [host = "", port = ""] = address.split(":");
  const socket = connectTcp(Number(port), host);
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  if (count % 3 === 0) socket.write(head);
  if (count % 3 === 1) socket.write(`${head}content-length: ${BODY_BYTES}\r\n\r\n`);
  const drip = setInterval(() => {
    if (count % 3 === 0) socket.write(`x-${count}: y\r\n`);
    if (count % 3 === 1 && socket.writableLength === 0) socket.write(PIECE);
  }, 500);
  socket.resume().on("error", () => undefined);
  socket.once("close", () => {
    clearInterval(drip);
    onClose();
  });
}

/** @param {string} address @param {() => void} onClose */
function strangerOverGrpc(address, onClose) {
  const session = connectHttp2(`http://${address}`);
  session.on("error", () => undefined);
  const headers = { ":method": "POST", ":path": "/tollgate.v1.InferenceService/Generate", te: "trailers" };
  const stream = session.request({ ...headers, "content-type": "application/grpc+proto" });
  stream.resume().on("error", () => undefined);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(BODY_BYTES, 1);
  stream.write(prefix);
  const drip = setInterval(() => stream.writable && stream.writableLength === 0 && stream.write(PIECE), 500);
  session.once("close", () => {
    clearInterval(drip);
    onClose();
  });
}
