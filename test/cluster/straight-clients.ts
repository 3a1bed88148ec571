/**
 * Clients of one node that come again and again while it stops and starts: over connections of their own, or over kept
 * ones, by HTTP and by gRPC. Who cannot connect comes later; who is connected must be answered.
 */
import { request as requestHttp, Agent } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { MODEL } from "./cluster.js";
import type { GatewayNode } from "./node.js";

const PAUSE_MS = 2;
/** After a refused connection. */
const AWAY_MS = 25;
/** A gRPC message without a member. */
const EMPTY = Buffer.alloc(5);

/** Undefined where no connection was made; else what is wrong with the answer, or "". */
type Attempt = () => Promise<string | undefined>;

export class StraightClients {
  /** How many calls of each kind were answered, and how often no connection was made. */
  readonly served = new Map<string, number>();
  refused = 0;
  /** Connections that were made and then reset, before any answer. */
  readonly resets: string[] = [];
  readonly problems: string[] = [];
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(node: GatewayNode, key: string, each: number) {
    const kinds: Record<string, () => Attempt> = {
      fresh: () => () => whole(node, key, undefined),
      kept: () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        return () => whole(node, key, agent);
      },
      "fresh grpc": () => () => grpc(node, key),
    };
    this.#running = Object.entries(kinds).flatMap(([kind, open]) =>
      Array.from({ length: each }, () => this.#run(kind, open())),
    );
  }

  get total(): number {
    return [...this.served.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #run(kind: string, attempt: Attempt): Promise<void> {
    while (!this.#isOver) {
      const problem = await attempt();
      if (problem === undefined) this.refused += 1;
      else if (problem === "") this.served.set(kind, (this.served.get(kind) ?? 0) + 1);
      else if (problem.includes("ECONNRESET")) this.resets.push(`${kind}: ${problem}`);
      else this.problems.push(`${kind}: ${problem}`);
      await pause(problem === undefined ? AWAY_MS : PAUSE_MS);
    }
  }
}

function whole(node: GatewayNode, key: string, agent: Agent | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = requestHttp(`${node.url}/v1/chat/completions`, {
      method: "POST",
      agent: agent ?? false,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
    let isConnected = false;
    asked.on("socket", (socket) => {
      isConnected = !socket.connecting;
      socket.once("connect", () => (isConnected = true));
    });
    asked.on("error", (error) => resolve(isConnected ? String(error) : undefined));
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("error", (error) => resolve(String(error)));
      response.on("end", () => resolve(text.includes("It is so.") ? "" : `${response.statusCode} ${text.slice(-200)}`));
    });
    asked.end(JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Is it so?" }] }));
  });
}

/** One call over a connection of its own, as a proxy without kept connections makes it. */
function grpc(node: GatewayNode, key: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${node.grpc}`);
    let isConnected = false;
    session.once("connect", () => (isConnected = true));
    const done = (problem: string | undefined): void => {
      session.destroy();
      resolve(problem);
    };
    session.on("error", (error) => done(isConnected ? String(error) : undefined));
    const call = session.request({
      ":method": "POST",
      ":path": "/tollgate.v1.KeyService/GetCaller",
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${key}`,
    });
    let status: unknown;
    call.on("response", (headers) => (status = headers["grpc-status"]));
    call.on("trailers", (headers) => (status = headers["grpc-status"]));
    call.on("error", (error) => done(isConnected ? String(error) : undefined));
    call.on("close", () => done(status === "0" ? "" : `ended by ${String(status)}`));
    call.resume();
    call.end(EMPTY);
  });
}
