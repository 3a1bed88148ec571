/** What this node shares with others: in Redis where the environment names one, in its owner, or nothing. */
import { monotonicMs } from "../base/monotonic.js";
import { readFileSync } from "node:fs";
import { ConfigError } from "../config/config-error.js";
import type { Coordination } from "../coordination/coordination.js";
import { createInProcessCoordination } from "../coordination/in-process.js";
import { createOwnedCoordination, type OwnerCalls } from "../coordination/owned.js";
import type { RedisSettings } from "../coordination/redis-client.js";
import type { RedisEvents } from "../coordination/redis.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import type { OwnerLink } from "../owner/owner-link.js";
import { protectSecrets } from "../base/redaction.js";
import type { CoreOptions } from "./core.js";

/** While Redis is away each command fails; a line says so at most this often. */
const FAILURE_LINE_MS = 60_000;
/** Rejects with a ConfigError where Redis refuses for good. One that cannot be reached is tried again and again. */
export async function startCoordination(
  { environment, log, metrics }: Pick<CoreOptions, "environment" | "log" | "metrics">,
  owner: OwnerLink | undefined,
): Promise<Coordination> {
  const { redis } = environment;
  if (redis === undefined) {
    if (owner === undefined) return createInProcessCoordination({ nowMs: monotonicMs });
    const coordination = createOwnedCoordination(ownerCalls(owner));
    metrics.readCoordination = () => coordination.state();
    return coordination;
  }
  protectSecrets([redis.password, redis.sentinelPassword].filter((secret) => secret !== undefined));
  const settings: RedisSettings = {
    ...redis,
    tls: redis.isSecure
      ? { ca: environment.redisCa === undefined ? undefined : readCa(environment.redisCa) }
      : undefined,
  };
  // A gateway that is alone starts without the client.
  const { createClient, RedisRefusal } = await import("../coordination/redis-client.js");
  const { startRedisCoordination } = await import("../coordination/redis.js");
  try {
    const coordination = await startRedisCoordination({
      client: createClient(settings, "tollgate"),
      listener: createClient(settings, "tollgate-listens"),
      isCluster: redis.kind === "cluster",
      monotonicMs,
      events: eventsFor(log, metrics),
    });
    metrics.readCoordination = () => coordination.state();
    return coordination;
  } catch (error) {
    if (error instanceof RedisRefusal) throw new ConfigError([error.message]);
    throw error;
  }
}

function ownerCalls(owner: OwnerLink): OwnerCalls {
  return {
    call: (name, args) => owner.call("coordination", name, args),
    tell: (name, args) => owner.tell("coordination", name, args),
    hear: (name, hearer) => owner.hear(name, hearer),
  };
}

function readCa(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`TOLLGATE_REDIS_CA=${JSON.stringify(path)} must be a file that can be read`], {
      cause: error,
    });
  }
}

function eventsFor(log: Log, metrics: Metrics): RedisEvents {
  let toldMs = -Infinity;
  return {
    breaker: (trouble) => {
      if (trouble === undefined) {
        log.info({}, "Redis is available again: limits are shared");
        return;
      }
      metrics.redisTroubles.inc({ trouble });
      log.warn({ trouble }, "Redis is unavailable: this node applies its own share of the limits");
    },
    answered: (tookMs) => metrics.redisSeconds.observe(tookMs / 1000),
    failed: (err) => {
      metrics.redisFailures.inc();
      const nowMs = monotonicMs();
      if (nowMs - toldMs < FAILURE_LINE_MS) return;
      toldMs = nowMs;
      log.warn({ err }, "Redis does not answer");
    },
    decidedAlone: () => metrics.decidedAlone.inc(),
  };
}
