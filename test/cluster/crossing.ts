/** What is begun at one node and goes on at another, of another build: each request is counted and looked at. */
import { expect } from "vitest";
import { Browser, type BrowserAnswer } from "../support/browser.js";
import { chat, postChat } from "../support/chat-call.js";
import { CALL_NANOS, type Cluster, type Json, MODEL } from "./cluster.js";
import type { GatewayNode } from "./node.js";

/** Many times what it takes for something to come to the other node. */
export const PATIENT = { timeout: 120_000, interval: 50 };
const QUESTION = "Is it so?";

export interface CrossingParts {
  readonly cluster: Cluster;
  /** Where things begin, and where they go on. */
  readonly here: GatewayNode;
  readonly there: GatewayNode;
  /** A front end of the build of `there`, whose core is `here`. */
  readonly front: GatewayNode;
  /** An operator's session. */
  readonly operator: Browser;
  /** An account of this crossing alone. */
  readonly account: string;
}

export interface Asked {
  readonly user?: string;
  readonly tookMs?: number;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export class Crossing {
  /** How many requests were answered as they had to be. */
  count = 0;

  constructor(readonly parts: CrossingParts) {}

  /** Throws where a request was answered otherwise. */
  counted(what: string, status: number, want = 200): void {
    if (status !== want) throw new Error(`${what} was answered ${status}, not ${want}`);
    this.count += 1;
  }

  /** One call of the management API by the operator's key. */
  async manage(node: GatewayNode, method: string, path: string, body?: unknown): Promise<Json> {
    const { cluster } = this.parts;
    const answer = await cluster.manage(cluster.nodes.indexOf(node), method, path, body);
    this.count += 1;
    return answer;
  }

  async opened(calls: number): Promise<void> {
    const { cluster, account } = this.parts;
    await cluster.makeAccount(account, CALL_NANOS * BigInt(calls));
  }

  async keyAt(node: GatewayNode, settings: Json = {}): Promise<{ readonly id: string; readonly secret: string }> {
    const { cluster, account } = this.parts;
    this.count += 1;
    return cluster.makeKey(account, settings, cluster.nodes.indexOf(node));
  }

  /** A call to a model, whatever comes. */
  chat(node: GatewayNode, secret: string, asked: Asked = {}): Promise<Response> {
    const { user, tookMs = 0, stream = false, headers = {}, signal } = asked;
    const body = chat(QUESTION, { model: MODEL, user: user ?? this.parts.account, seed: tookMs, stream });
    return postChat(node, secret, body, { headers, ...(signal === undefined ? {} : { signal }) });
  }

  /** A call that must be served, to its end. */
  async served(node: GatewayNode, secret: string, asked: Asked = {}): Promise<Served> {
    const response = await this.chat(node, secret, asked);
    return this.answered(node, response, await response.text());
  }

  /** Throws where it was not served. */
  answered(node: GatewayNode, { status, headers }: Response, text: string): Served {
    this.counted(`a call at ${node.name} (${text.slice(0, 200)})`, status);
    return { id: headers.get("x-request-id") ?? "", text, headers };
  }

  /** A key, or a session, ends on the other node once that has heard of it, which is at once beside a Redis in time. */
  async refused(node: GatewayNode, secret: string): Promise<void> {
    await expect.poll(async () => (await this.chat(node, secret)).status, PATIENT).toBe(401);
    this.count += 1;
  }

  /** A call of a person's browser that must be answered so. */
  async asPerson(browser: Browser, method: string, path: string, body?: object, want = 200): Promise<BrowserAnswer> {
    const answer = await browser.call(method, path, body);
    this.counted(`${method} ${path} (${JSON.stringify(answer.body).slice(0, 200)})`, answer.status, want);
    return answer;
  }

  /** The same person at another node: its cookies go to all of them, as behind one name. */
  browserAt(node: GatewayNode, other?: Browser): Browser {
    const browser = new Browser(node);
    for (const [name, value] of other?.cookies ?? []) browser.cookies.set(name, value);
    return browser;
  }

  /** Both nodes say the same in the end. */
  async bothSay(path: string, want: object): Promise<void> {
    const { here, there } = this.parts;
    for (const node of [here, there])
      await expect.poll(() => this.manage(node, "GET", path), PATIENT).toMatchObject(want);
  }
}

export interface Served {
  /** Of the request. */
  readonly id: string;
  readonly text: string;
  readonly headers: Headers;
}

/** One thing that crosses from a build to another. */
export interface Subject {
  readonly name: string;
  readonly cross: (crossing: Crossing) => Promise<void>;
}
