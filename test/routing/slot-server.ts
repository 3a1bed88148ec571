/** A server inside the process that works at some requests at once, and notes each body that it gets. */
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "../../src/upstream/upstream.js";

const HEAD = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const CHUNKS = [
  { ...HEAD, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
  { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { ...HEAD, choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
];
const ANSWER = `${CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;

export class SlotServer implements Upstream {
  running = 0;
  mostRunning = 0;
  /** How often each body came. */
  readonly bodies = new Map<string, number>();
  #left: (() => void)[] = [];

  /** `workMs`: how long an answer takes; undefined: until `finish`. `status`: what it answers. */
  constructor(
    private readonly workMs: (() => number) | undefined,
    private readonly status = 200,
  ) {}

  get requests(): number {
    return [...this.bodies.values()].reduce((sum, count) => sum + count, 0);
  }

  send({ body }: UpstreamRequest, handler: UpstreamHandler): Exchange {
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    const text = String(body);
    this.bodies.set(text, (this.bodies.get(text) ?? 0) + 1);
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.running -= 1;
      return true;
    };
    const answer = (): void => {
      if (!end()) return;
      handler.onHead(this.status, { "content-type": this.status === 200 ? "text/event-stream" : "application/json" });
      handler.onData(Buffer.from(this.status === 200 ? ANSWER : "{}"));
      handler.onEnd();
    };
    if (this.workMs === undefined) this.#left.push(answer);
    else setTimeout(answer, this.workMs());
    return { pause: () => undefined, resume: () => undefined, abort: () => void end() };
  }

  /** Answers all that wait for it. */
  finish(): void {
    const left = this.#left;
    this.#left = [];
    for (const answer of left) answer();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
