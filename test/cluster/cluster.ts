/** Several real gateways on one PostgreSQL and one Redis, before one upstream that counts. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OPERATOR_KEY } from "../support/gateway-process.js";
import { Callers } from "./callers.js";
import { Network } from "./network.js";
import { GatewayNode } from "./node.js";
import { type Backend, type Database, startDatabase, startRedis } from "./processes.js";
import { type CountingUpstream, startCountingUpstream } from "./upstream.js";

/** What each call costs, in nano-USD. */
export const CALL_NANOS = 10_000n;
export const BUILD = fileURLToPath(new URL("../../", import.meta.url));
export const MODEL = "paid-1";
export const FREE_MODEL = "free-1";

export type Json = Readonly<Record<string, unknown>>;

export interface ClusterOptions {
  readonly nodes: number;
  /** Each node in a network namespace of its own, so that its links can be cut. */
  readonly apart?: boolean;
  /** True where each node has a database of its own embedded, and neither PostgreSQL nor Redis. */
  readonly isEmbedded?: boolean;
  /** The nodes serve gRPC as well. */
  readonly hasGrpc?: boolean;
  /** Through what the nodes reach the database. */
  readonly databaseUrl?: (url: string) => Promise<string>;
  /** What each node's environment says beside. */
  readonly env?: Readonly<Record<string, string>>;
  /** And Redis, where each node may have a way of its own. */
  readonly redisUrl?: (url: string, place: number) => Promise<string>;
}

export class Cluster {
  readonly callers = new Callers();

  private constructor(
    readonly nodes: readonly GatewayNode[],
    readonly database: Database,
    readonly redis: Backend,
    readonly upstream: CountingUpstream,
    /** Undefined where all nodes are in one. */
    readonly network: Network | undefined,
    /** Of all its files, gone with it. */
    readonly directory: string,
  ) {}

  static async open({
    nodes: count,
    apart = false,
    isEmbedded = false,
    hasGrpc = false,
    databaseUrl,
    redisUrl,
    env = {},
  }: ClusterOptions): Promise<Cluster> {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-cluster-"));
    // PostgreSQL's user must be let in.
    chmodSync(directory, 0o755);
    const network = apart ? new Network() : undefined;
    const hostOf = (side: "database" | "redis" | "callers"): string => network?.host(side) ?? "127.0.0.1";
    const database = await startDatabase(join(directory, "database"), hostOf("database"));
    const redis = await startRedis(directory, hostOf("redis"));
    const upstream = await startCountingUpstream(hostOf("callers"));
    const url = databaseUrl === undefined ? database.url : await databaseUrl(database.url);
    const redisUrls: string[] = [];
    for (let place = 0; place < count; place += 1)
      redisUrls.push(redisUrl === undefined ? redis.url : await redisUrl(redis.url, place));
    const nodes = Array.from({ length: count }, (_, place) => {
      const name = `node-${place}`;
      return new GatewayNode({
        name,
        directory: join(directory, name),
        settings: settingsFor(upstream.url),
        env: {
          ...(isEmbedded ? {} : { TOLLGATE_DATABASE_URL: url, TOLLGATE_REDIS_URL: redisUrls[place] ?? redis.url }),
          ...env,
        },
        build: BUILD,
        within: network?.add(place) ?? [],
        host: network?.address(place) ?? "127.0.0.1",
        hasGrpc,
      });
    });
    const cluster = new Cluster(nodes, database, redis, upstream, network, directory);
    try {
      for (const node of nodes) await node.start();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  node(place: number): GatewayNode {
    const node = this.nodes[place % this.nodes.length];
    if (node === undefined) throw new Error("a cluster has nodes");
    return node;
  }

  /** A call of the management API at one node. */
  async manage(place: number, method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.callers.ask(this.node(place).url, {
      method,
      path: `/api/v1${path}`,
      key: OPERATOR_KEY,
      body,
    });
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async makeAccount(id: string, creditNanos: bigint): Promise<void> {
    await this.manage(0, "POST", "/accounts", { id, name: id });
    if (creditNanos > 0n) await this.credit(id, creditNanos, "first");
  }

  async credit(id: string, amountNanos: bigint, name: string): Promise<void> {
    const body = { amount_nanos: String(amountNanos), credit_id: `${name}-${id}` };
    await this.manage(0, "POST", `/accounts/${id}:credit`, body);
  }

  async makeKey(account: string, settings: Json = {}, place = 0): Promise<{ id: string; secret: string }> {
    const made = await this.manage(place, "POST", "/keys", { account_id: account, settings });
    const { id } = made["key"] as { readonly id: string };
    return { id, secret: String(made["secret"]) };
  }

  async balance(account: string, place = 0): Promise<{ available: bigint; held: bigint; spent: bigint }> {
    const body = await this.manage(place, "GET", `/accounts/${account}/balance`);
    const nanos = (name: string): bigint => BigInt(String(body[`${name}_nanos`]));
    return { available: nanos("available"), held: nanos("held"), spent: nanos("spent") };
  }

  /** Sentences of what does not hold in the ledger. */
  async verify(place = 0): Promise<readonly string[]> {
    const body = await this.manage(place, "POST", "/ledger:verify", {});
    return body["holds"] === true ? [] : (body["problems"] as string[]);
  }

  async close(): Promise<void> {
    await this.callers.close();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.upstream.close();
    await this.redis.kill();
    await this.database.kill();
    this.network?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function settingsFor(upstreamUrl: string): string {
  const model = (price: string): string =>
    `{ targets: [{ upstream: counting }], context_tokens: 200000, output_tokens_max: 100, price: ${price} }`;
  return [
    "upstreams:",
    `  counting: { family: openai-compatible, base_url: "${upstreamUrl}" }`,
    "models:",
    `  ${MODEL}: ${model('{ input: "0", output: "0", request: "0.00001" }')}`,
    `  ${FREE_MODEL}: ${model("free")}`,
    "",
  ].join("\n");
}
