/** The drivers of coordination, as a table: what holds of one holds of all. */
import type { Coordination } from "../../src/coordination/coordination.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { createOwnedCoordination, type OwnerCalls } from "../../src/coordination/owned.js";
import { OwnerCoordination } from "../../src/coordination/owner.js";
import { createClient } from "../../src/coordination/redis-client.js";
import { type RedisOptions, startRedisCoordination, type RedisCoordination } from "../../src/coordination/redis.js";
import type { OwnerLink } from "../../src/owner/owner-link.js";
import { startOwner, type TestOwner } from "../support/owner.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";

export interface OpenOptions {
  /** The time that windows and slots go by. */
  readonly nowMs: () => number;
}

/** A coordination whose heart beats when the test says so. */
export type Beating = Coordination & { heartbeat(): void };

export interface Driver {
  readonly name: string;
  /** Why it cannot be tested here; undefined where it can. */
  readonly missing: string | undefined;
  /** How many times fewer steps a long property takes, as each of its steps is a round trip. */
  readonly slower: number;
  /** Makes ready what all coordinations of a file share. */
  begin(): Promise<{ open(options: OpenOptions): Promise<Beating>; close(): Promise<void> }>;
}

export const DRIVERS: readonly Driver[] = [
  {
    name: "in process",
    missing: undefined,
    slower: 1,
    begin: () =>
      Promise.resolve({
        open: (options: OpenOptions) => Promise.resolve(createInProcessCoordination({ ...options, heartbeatMs: 0 })),
        close: () => Promise.resolve(),
      }),
  },
  {
    name: "an owner's workers",
    missing: undefined,
    slower: 10,
    begin: () => Promise.resolve(beginOwners()),
  },
  {
    name: "Redis",
    missing: REDIS_MISSING,
    slower: 10,
    begin: async () => {
      const server = await sharedRedis();
      return {
        open: ({ nowMs }: OpenOptions) => openRedis(server.url, { monotonicMs: nowMs, serverMs: nowMs }),
        close: () => server.close(),
      };
    },
  },
];

/** Each with an owner of its own, so that each has its own clock. */
function beginOwners(): Awaited<ReturnType<Driver["begin"]>> {
  const owners: TestOwner[] = [];
  return {
    open: async ({ nowMs }) => {
      const process = createInProcessCoordination({ nowMs, heartbeatMs: 0 });
      const shared = new OwnerCoordination(process);
      const owner = await startOwner(
        { coordination: (name, args, visitor) => shared.answer(name, args, visitor) },
        { onCame: (visitor) => shared.came(visitor), onLeft: (visitor) => shared.left(visitor) },
      );
      owners.push(owner);
      const coordination = createOwnedCoordination(callsOf(await owner.come()));
      return Object.assign(coordination, { heartbeat: () => process.heartbeat() });
    },
    close: async () => {
      for (const owner of owners) await owner.close();
    },
  };
}

export function callsOf(link: OwnerLink): OwnerCalls {
  return {
    call: (name, args) => link.call("coordination", name, args),
    tell: (name, args) => link.tell("coordination", name, args),
    hear: (name, hearer) => link.hear(name, hearer),
  };
}

let opened = 0;

/** A coordination on a server, apart from all others unless the prefix is the same. */
export function openRedis(url: string, options: Partial<RedisOptions> = {}): Promise<RedisCoordination> {
  const { hostname, port } = new URL(url);
  const settings = {
    kind: "single",
    hosts: [{ host: hostname, port: Number(port) }],
    database: 0,
    commandMs: 20_000,
  } as const;
  return startRedisCoordination({
    client: createClient(settings, "test"),
    listener: createClient(settings, "test listens"),
    isCluster: false,
    monotonicMs: () => performance.now(),
    prefix: newPrefix(),
    tickMs: 0,
    slowMs: 20_000,
    giveUpMs: 20_000,
    ...options,
  });
}

export function newPrefix(): string {
  return `test:${process.pid}:${Date.now().toString(36)}:${opened++}:`;
}

/** Takes all from a server, as an operator may at any time. */
export async function flush(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const hosts = [{ host: hostname, port: Number(port) }];
  const client = createClient({ kind: "single", hosts, database: 0, commandMs: 20_000 }, "test flushes");
  await client.connect();
  await client.flushall();
  client.disconnect();
}
