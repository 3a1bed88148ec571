/** A handler of an exchange that keeps what it heard. */
import type { UpstreamHandler } from "../../src/upstream/upstream.js";

type Call = "head" | "data" | "end" | "error";

export class Listener implements UpstreamHandler {
  /** What was called, in order; repeated `data` counts once. */
  readonly calls: Call[] = [];
  readonly chunks: Buffer[] = [];
  /** Resolves at the end, rejects at an error. */
  readonly ended: Promise<void>;
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  sent: boolean | undefined;
  code: string | undefined;
  bytes = 0;
  readonly #keep: boolean;
  readonly #hooks = new Map<Call, (() => void)[]>();
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor({ keep = true }: { readonly keep?: boolean } = {}) {
    this.#keep = keep;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended.catch(() => {});
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString("utf8");
  }

  /** Runs inside the callback. */
  on(call: Call, hook: () => void): void {
    this.#hooks.set(call, [...(this.#hooks.get(call) ?? []), hook]);
  }

  async until(call: Call): Promise<void> {
    if (!this.calls.includes(call)) await new Promise<void>((resolve) => this.on(call, resolve));
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.headers = headers;
    this.#heard("head");
  }

  onData(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#keep) this.chunks.push(chunk);
    this.#heard("data");
  }

  onEnd(): void {
    this.#heard("end");
    this.#resolve();
  }

  onError(error: Error, sent: boolean): void {
    this.sent = sent;
    this.code = String(Reflect.get(error, "code"));
    this.#heard("error");
    this.#reject(error);
  }

  #heard(call: Call): void {
    if (call !== "data" || this.calls.at(-1) !== "data") this.calls.push(call);
    for (const hook of this.#hooks.get(call) ?? []) hook();
  }
}
