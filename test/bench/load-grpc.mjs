/**
 * The gRPC load driver, in its own process: unary Generate calls of a plain grpc-js client, each caller one at a time.
 */
import { fileURLToPath } from "node:url";
import { Client, Metadata, credentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { LatencyRecord } from "./latency.mjs";

const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));
const FAILURES_MAX = 100;
const PROBLEMS_MAX = 5;

/** @typedef {import("./load.mjs").Job} Job */
/** @typedef {import("./load.mjs").Load} Load */

const definition = loadSync("tollgate/v1/inference_service.proto", { includeDirs: [PROTO], keepCase: true });
/** @type {any} */
const service = definition["tollgate.v1.InferenceService"];
const method = service.Generate;

/** Bytes go out as they are, and come in as they are: the message is built once, and a mark in the answer proves it. */
const asIs = (/** @type {Buffer} */ bytes) => bytes;

/**
 * @param {Job} job
 * @returns {Promise<Load>}
 */
function run(job) {
  const client = new Client(`${job.host}:${job.port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": 64 << 20,
    // Each job has a connection of its own, as with HTTP.
    "grpc.use_local_subchannel_pool": 1,
  });
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(job.headers)) metadata.set(name, value);
  const source = { wire: "openai-chat", body: Buffer.from(job.body) };
  const request = method.requestSerialize({ generation: { source }, accept_wire: "openai-chat" });
  const whole = new LatencyRecord(0);
  const mark = Buffer.from(job.expected.endMark);
  const counts = { ok: 0, failed: 0, problems: /** @type {string[]} */ ([]), events: 0 };
  const startMs = performance.now();
  let sent = 0;
  const mayStart = () =>
    (job.seconds === 0 || performance.now() < startMs + job.seconds * 1000) &&
    (job.requests === 0 || sent < job.requests) &&
    counts.failed < FAILURES_MAX;

  const caller = async () => {
    while (mayStart()) {
      sent++;
      const sentMs = performance.now();
      const problem = await new Promise((/** @type {(problem: string | undefined) => void} */ done) => {
        const deadline = Date.now() + job.drainSeconds * 1000;
        client.makeUnaryRequest(method.path, asIs, asIs, request, metadata, { deadline }, (error, answer) => {
          if (error !== null) done(error.message);
          else done(answer?.includes(mark) ? undefined : "the answer has no end mark");
        });
      });
      if (problem === undefined) {
        counts.ok++;
        whole.add(performance.now() - sentMs, 0);
      } else {
        counts.failed++;
        if (counts.problems.length < PROBLEMS_MAX) counts.problems.push(problem);
      }
    }
  };
  return Promise.all(Array.from({ length: job.callers }, caller)).then(() => {
    client.close();
    const seconds = (performance.now() - startMs) / 1000;
    return { ...counts, seconds, whole: whole.all(), first: whole.all(), windows: [] };
  });
}

process.on("message", (/** @type {Job} */ job) => void run(job).then((load) => process.send?.(load)));
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
