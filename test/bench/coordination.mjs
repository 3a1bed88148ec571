/**
 * What a request's limits cost the node: CPU and time of one admission with its settlement, in the process and with
 * Redis. `npm run bench:coordination`, with REDIS_URL where it is not redis://127.0.0.1:6379.
 */
import { createInProcessCoordination } from "../../dist/src/coordination/in-process.js";
import { createClient } from "../../dist/src/coordination/redis-client.js";
import { startRedisCoordination } from "../../dist/src/coordination/redis.js";

const REQUESTS = 40_000;
const CALLERS = [1, 16, 64];
const { hostname, port } = new URL(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
const settings = { kind: "single", hosts: [{ host: hostname, port: Number(port) }], database: 0, commandMs: 20_000 };
const monotonicMs = () => performance.now();
const limits = { requestsPerMinute: 1_000_000_000, tokensPerMinute: 0, concurrency: 1_000_000 };
const tokens = { requestsPerMinute: 0, tokensPerMinute: 1_000_000_000, concurrency: 0 };
let count = 0;

async function request(coordination, revisions) {
  const requestId = `bench${count++}`;
  const subject = `key key_${count % 50}`;
  const first = [{ subject, limits, tokens: 0 }];
  const demands = [{ subject, limits: tokens, tokens: 1_000 }];
  const asked = { requestId, accountId: "bench", first, demands, ...(revisions === undefined ? {} : { revisions }) };
  const startMs = performance.now();
  const answer = coordination.admit(asked);
  const result = answer instanceof Promise ? await answer : answer;
  const tookMs = performance.now() - startMs;
  if (!result.admitted || result.degraded) throw new Error("not admitted as it should be");
  // A request takes its time, so that settlements do not fall into the turn of admissions.
  await new Promise((resolve) => setImmediate(resolve));
  coordination.correct("bench", subject, result, 1_000, 300);
  coordination.release("bench", subject, requestId);
  return tookMs;
}

async function measure(name, coordination, revisions, callers) {
  const times = [];
  const run = async (requests) => {
    for (let done = 0; done < requests; done++) times.push(await request(coordination, revisions));
  };
  await Promise.all(Array.from({ length: callers }, () => run(50)));
  times.length = 0;
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: callers }, () => run(Math.ceil(REQUESTS / 4 / callers))));
  const { user, system } = process.cpuUsage(before);
  times.sort((one, other) => one - other);
  const us = (user + system) / times.length;
  const p50 = times[Math.floor(times.length / 2)].toFixed(3);
  console.log(`${name}, ${callers} callers: ${us.toFixed(1)} us of CPU a request, p50 ${p50} ms`);
}

const prefix = `bench:${process.pid}:`;
const names = ["key_1", "account:bench"];
for (const callers of CALLERS) {
  const local = createInProcessCoordination({ nowMs: monotonicMs });
  await measure("in process", local, undefined, callers);
  await local.close();
  const shared = await startRedisCoordination({
    client: createClient(settings, "bench"),
    listener: createClient(settings, "bench"),
    isCluster: false,
    monotonicMs,
    prefix,
    slowMs: 5_000,
  });
  await measure("Redis", shared, await shared.revisionsOf("bench", names), callers);
  await shared.close();
}
