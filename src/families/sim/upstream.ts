/** The stand-in as an upstream inside the process: it speaks bytes as one over HTTP would. */
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "../../upstream/upstream.js";
import { answerEmbedding } from "./embedding.js";
import { answerModeration } from "./moderation.js";
import { renderAnswer, renderModels, renderRefusal, renderStream, type Head } from "./render.js";
import { reply } from "./reply.js";
import { answerRerank } from "./rerank.js";
import { SimRefusal } from "./refusal.js";
import { readBody } from "./request.js";
import { speechEvents } from "./speech.js";

export interface SimOptions {
  readonly nowMs: () => number;
}

/** How many events one read holds where nothing slows the stream: about what a fast network would deliver at once. */
const EVENTS_PER_READ = 16;

const EVENTS = "text/event-stream";

/** What is answered whole, by its path. */
const SURFACES: ReadonlyMap<string, (body: Buffer | undefined) => string> = new Map([
  ["/embeddings", answerEmbedding],
  ["/rerank", answerRerank],
  ["/moderations", answerModeration],
]);

export function createSimUpstream(options: SimOptions): Upstream {
  return new SimUpstream(options);
}

class SimUpstream implements Upstream {
  readonly #nowMs: () => number;
  readonly #running = new Set<SimExchange>();
  #answers = 0;

  constructor(options: SimOptions) {
    this.#nowMs = options.nowMs;
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): Exchange {
    const exchange = new SimExchange(handler, () => this.#running.delete(exchange));
    this.#running.add(exchange);
    exchange.answer(() => this.#answer(request));
    return exchange;
  }

  close(): Promise<void> {
    for (const exchange of this.#running) exchange.fail(new Error("the stand-in was closed"));
    return Promise.resolve();
  }

  #answer(request: UpstreamRequest): SimAnswer {
    if (request.method === "GET" && request.path === "/models") return whole(200, renderModels());
    const { method, path } = request;
    const surface = SURFACES.get(path);
    const isSpeech = path === "/audio/speech";
    if (method !== "POST" || (path !== "/chat/completions" && !isSpeech && surface === undefined))
      return whole(404, renderRefusal(new SimRefusal(404, "Unknown request URL.", null, "unknown_url")));
    try {
      if (surface !== undefined) return whole(200, surface(request.body));
      if (isSpeech) return { status: 200, type: EVENTS, reads: speechEvents(request.body), delayMs: 0 };
      const body = readBody(request.body);
      const made = reply(body);
      const { failStatus, delayMs } = made.steering;
      if (failStatus !== undefined) throw new SimRefusal(failStatus, "The request asked to fail.", null, "sim_fail");
      const createdSeconds = Math.floor(this.#nowMs() / 1000);
      const head: Head = { id: `chatcmpl-sim-${++this.#answers}`, createdSeconds };
      if (body.stream !== true) return whole(200, renderAnswer(body, made, head));
      return { status: 200, type: EVENTS, reads: renderStream(body, made, head), delayMs };
    } catch (error) {
      if (error instanceof SimRefusal) return whole(error.status, renderRefusal(error));
      throw error;
    }
  }
}

interface SimAnswer {
  readonly status: number;
  readonly type: string;
  /** What is to be sent, piece by piece. */
  readonly reads: Iterator<string, void>;
  readonly delayMs: number;
}

function whole(status: number, body: string): SimAnswer {
  return { status, type: "application/json", reads: [body].values(), delayMs: 0 };
}

class SimExchange implements Exchange {
  readonly #handler: UpstreamHandler;
  readonly #onClosed: () => void;
  #answer: SimAnswer | undefined;
  #ended = false;
  #paused = false;
  /** Takes back what is scheduled next. */
  #cancel: () => void = () => {};

  constructor(handler: UpstreamHandler, onClosed: () => void) {
    this.#handler = handler;
    this.#onClosed = onClosed;
  }

  /** Never calls the handler before the caller holds the exchange. */
  answer(make: () => SimAnswer): void {
    const timer = setImmediate(() => {
      try {
        this.#answer = make();
      } catch (error) {
        this.fail(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      const { status, type } = this.#answer;
      this.#handler.onHead(status, { "content-type": type });
      this.#schedule();
    });
    this.#cancel = () => clearImmediate(timer);
  }

  pause(): void {
    this.#paused = true;
    // Before the answer begins, what is scheduled makes it, and a pause must not stop that.
    if (this.#answer !== undefined) this.#cancel();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#answer !== undefined) this.#schedule();
  }

  abort(): void {
    this.#close();
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#close();
    this.#handler.onError(error, true);
  }

  #schedule(): void {
    if (this.#ended || this.#paused) return;
    const delayMs = this.#answer?.delayMs ?? 0;
    const read = (): void => this.#read();
    if (delayMs > 0) {
      const timer = setTimeout(read, delayMs);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const timer = setImmediate(read);
      this.#cancel = () => clearImmediate(timer);
    }
  }

  #read(): void {
    const answer = this.#answer;
    if (answer === undefined || this.#ended) return;
    let text = "";
    for (let i = 0; i < (answer.delayMs > 0 ? 1 : EVENTS_PER_READ); i++) {
      const next = answer.reads.next();
      if (next.done === true) break;
      text += next.value;
    }
    if (text === "") {
      this.#close();
      this.#handler.onEnd();
      return;
    }
    this.#handler.onData(Buffer.from(text));
    this.#schedule();
  }

  #close(): void {
    this.#ended = true;
    this.#cancel();
    this.#onClosed();
  }
}
