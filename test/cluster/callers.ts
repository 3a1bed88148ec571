/** Clients that do as they are told: they come again after `retry-after`, and go to another node where one is away. */
import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { MODEL } from "./cluster.js";
import type { GatewayNode } from "./node.js";

const CONNECTIONS_MAX = 512;
/** What an answer without a time to come again is given. */
const RETRY_MS = 100;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface Answer {
  /** 0 where no whole answer came. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryMs: number;
  /** Why there is no status, or the code of the refusal. */
  readonly code: string;
  /** True where limits were kept without Redis. */
  readonly isDegraded: boolean;
}

export class Callers {
  readonly #agent = new Agent({ connections: CONNECTIONS_MAX, headersTimeout: 0, bodyTimeout: 0 });

  /** Never rejects. */
  async ask(url: string, { method, path, key, body, timeoutMs = 60_000 }: Asked): Promise<Answer> {
    try {
      const {
        statusCode,
        headers,
        body: bytes,
      } = await this.#agent.request({
        origin: url,
        path,
        method: method as "GET",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await bytes.text();
      const json = text.startsWith("{") ? (JSON.parse(text) as Answer["body"]) : {};
      const error = json["error"] as { readonly code?: unknown } | undefined;
      const retryMs = Number(headers["retry-after-ms"] ?? Number(headers["retry-after"] ?? 0) * 1000);
      const isDegraded = headers["x-tollgate-degraded"] !== undefined;
      return { status: statusCode, body: json, retryMs, code: String(error?.code ?? ""), isDegraded };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      return { status: 0, body: {}, retryMs: 0, code, isDegraded: false };
    }
  }

  /** One call to a model. The user is what the upstream knows it by; `tookMs` how long it works. */
  chat(url: string, key: string, user: string, { model = MODEL, tookMs = 0, stream = false } = {}): Promise<Answer> {
    const messages = [{ role: "user", content: "Is it so?" }];
    const body = { model, messages, user, seed: tookMs, stream };
    return this.ask(url, { method: "POST", path: "/v1/chat/completions", key, body });
  }

  /** Calls until it is served, or refused for good, or the time is over; at the next node each time. */
  async insist(
    nodes: readonly GatewayNode[],
    key: string,
    user: string,
    { first = 0, patienceMs = 60_000 } = {},
  ): Promise<Answer & { readonly tries: number }> {
    const endMs = performance.now() + patienceMs;
    for (let tries = 1; ; tries += 1) {
      const node = nodes[(first + tries - 1) % nodes.length];
      if (node === undefined) throw new Error("nobody to ask");
      const answer = await this.chat(node.url, key, user);
      const isOver = performance.now() + answer.retryMs > endMs;
      if (answer.status === 200 || (answer.status >= 400 && answer.retryMs === 0) || isOver)
        return { ...answer, tries };
      await pause(Math.max(answer.retryMs, answer.status === 0 ? RETRY_MS : 0));
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
