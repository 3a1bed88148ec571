/** Connections to Redis, as single server, behind Sentinel, or as Cluster: bounded, never queued, never resent. */
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, Redis, type RedisOptions } from "ioredis";

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

export interface RedisSettings {
  readonly kind: "single" | "sentinel" | "cluster";
  /** The server, the sentinels, or some nodes of the cluster. */
  readonly hosts: readonly RedisHost[];
  /** The name under which the sentinels know the primary. */
  readonly primary?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  readonly database: number;
  /** How long the connection waits for the answer to a command. Default: 2 seconds. */
  readonly commandMs?: number | undefined;
  /** Undefined: no TLS; `ca` undefined: the authorities that Node knows. */
  readonly tls?: { readonly ca: Buffer | undefined } | undefined;
}

export type Client = Redis | Cluster;

const CONNECT_MS = 2_000;
/**
 * A connection on which a command stays without an answer for so long is given up. Who asked has given up long before,
 * by a clock that knows when this process was busy.
 */
const SILENT_MS = 2_000;
const RECONNECT_MS_MAX = 1_000;
const VERSION_MIN = 7;

/** Makes a client that is not connected yet. */
export function createClient(settings: RedisSettings, connectionName: string): Client {
  const { hosts, database, username, password, tls } = settings;
  const options = {
    connectionName,
    lazyConnect: true,
    // A command that may have had its effect must not be sent again, and one that waits is of no use any more.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Who listens subscribes by itself. The library would also, and nobody could hear that its subscription failed:
    // a connection that ends just then would end the process.
    autoResubscribe: false,
    // What waits for its answer when the connection ends has failed in that moment.
    maxRetriesPerRequest: 0,
    commandTimeout: settings.commandMs ?? SILENT_MS,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    retryStrategy: reconnectMs,
    // A server that has become a replica: the next connection finds the primary. The command is not sent again.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
    db: database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls: tls.ca === undefined ? {} : { ca: tls.ca } }),
  } satisfies RedisOptions;
  switch (settings.kind) {
    case "single":
      return new Redis({ ...options, ...hosts[0] });
    case "sentinel":
      return new Redis({
        ...options,
        sentinels: [...hosts],
        name: settings.primary ?? "mymaster",
        sentinelRetryStrategy: reconnectMs,
        ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: options.tls ?? {} }),
        ...(settings.sentinelPassword === undefined ? {} : { sentinelPassword: settings.sentinelPassword }),
      });
    case "cluster": {
      const { retryStrategy: _retry, enableOfflineQueue: _queue, db: _database, ...redisOptions } = options;
      const cluster = new Cluster([...hosts], {
        redisOptions,
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: reconnectMs,
        // Both would send a command again that may have had its effect.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshTimeout: CONNECT_MS,
        // A moved slot costs one redirection; the map is read again then, and from time to time.
        slotsRefreshInterval: 5_000,
      });
      // A node is connected to when it is found: what is asked of one that is not connected yet is refused.
      cluster.on("+node", (node: Redis) => void node.connect().catch(() => undefined));
      return cluster;
    }
  }
}

/** A start waits no longer for Redis: it serves without, and is told when Redis is there. */
const FIRST_CONNECT_MS_MAX = 10_000;

function reconnectMs(times: number): number {
  return Math.min(RECONNECT_MS_MAX, 50 * times) + Math.random() * 50;
}

/**
 * Connects. Resolves with what it failed with where it tries on by itself; rejects where waiting does not help: a wrong
 * password, or a server that is too old.
 */
export async function connect(client: Client): Promise<unknown> {
  // What the server refused is told as an event; the connection is then only "closed".
  let told: unknown;
  const onError = (error: unknown): void => void (told = error);
  client.on("error", onError);
  try {
    await connected(client);
    if (client instanceof Cluster) await Promise.all(client.nodes("master").map((node) => node.ping()));
    const info = await client.info("server");
    requireVersion(/redis_version:(\S+)/.exec(info)?.[1] ?? "");
    return undefined;
  } catch (error) {
    if (error instanceof RedisRefusal) throw error;
    const refusal = refusalIn(error) ?? refusalIn(told);
    if (refusal !== undefined) throw new RedisRefusal(`TOLLGATE_REDIS_URL: Redis refuses: ${refusal}`);
    return error;
  } finally {
    client.off("error", onError);
  }
}

/**
 * Resolves when the client is ready. Rejects where its first attempt failed, or after so long: a cluster whose first
 * look finds it not ready connects anew by itself, and what it promised at first never ends.
 */
async function connected(client: Client): Promise<void> {
  const late = new AbortController();
  const ready = new Promise<void>((resolve) => client.once("ready", () => resolve()));
  const tooLate = sleep(FIRST_CONNECT_MS_MAX, undefined, { signal: late.signal }).then(() => {
    throw new Error("Redis was not ready in time");
  });
  tooLate.catch(() => undefined);
  try {
    await Promise.race([client.connect(), ready, tooLate]);
  } finally {
    late.abort();
  }
}

/** What an operator must mend. */
export class RedisRefusal extends Error {}

/** A cluster tells what its nodes said only inside its own error. */
function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH)/.test(error.message)) return error.message;
  const last: unknown = "lastNodeError" in error ? error.lastNodeError : undefined;
  return last === undefined ? undefined : refusalIn(last);
}

function requireVersion(version: string): void {
  const major = Number(version.split(".")[0]);
  if (major >= VERSION_MIN) return;
  throw new RedisRefusal(`TOLLGATE_REDIS_URL names Redis ${version}: Redis ${VERSION_MIN}.0 or later is needed`);
}
