/** An upstream that wants each request proven: what proves it is made first, then the request is sent. */
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "./upstream.js";

export type Headers = Readonly<Record<string, string>>;

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
}

/** How requests are proven. */
export interface Prover {
  /** The headers that prove a request; at once where they are at hand. Rejects where they cannot be made. */
  sign(request: UpstreamRequest): Headers | Promise<Headers>;
  /**
   * Called with an answer to a request and the headers that proved it. Resolves to true where other headers are at hand
   * by now, with which the request is sent once more. Undefined where the answer does not refuse the proof.
   */
  renew(refusal: Refusal, proof: Headers): Promise<boolean> | undefined;
}

export function createSignedUpstream(upstream: Upstream, prover: Prover): Upstream {
  return {
    send: (request, handler) => new ProvenExchange(upstream, prover, request, handler),
    close: () => upstream.close(),
  };
}

/** One request: it waits for its proof, and is sent once more where another proof may help. */
class ProvenExchange implements Exchange, UpstreamHandler {
  #exchange: Exchange | undefined;
  #proof: Headers = {};
  #isPaused = false;
  #isAborted = false;
  /** True while the refusal waits for a new proof. */
  #isRenewing = false;
  #isRepeated = false;
  #wasSent = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly prover: Prover,
    private readonly request: UpstreamRequest,
    private readonly handler: UpstreamHandler,
  ) {
    this.#prove();
  }

  pause(): void {
    this.#isPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isRenewing) this.#exchange?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#exchange?.abort();
  }

  onSent(): void {
    if (!this.#wasSent) this.handler.onSent?.();
    this.#wasSent = true;
  }

  onHead(status: number, headers: Headers): void {
    const renewal = this.#isRepeated ? undefined : this.prover.renew({ status, headers }, this.#proof);
    if (renewal === undefined) return this.handler.onHead(status, headers);
    this.#isRepeated = true;
    this.#isRenewing = true;
    // The refusal stays unread: it is the answer where there is no other proof.
    this.#exchange?.pause();
    void renewal.then((isRenewed) => {
      if (!this.#isRenewing || this.#isAborted) return;
      this.#isRenewing = false;
      if (isRenewed) return this.#repeat();
      this.handler.onHead(status, headers);
      if (!this.#isPaused) this.#exchange?.resume();
    });
  }

  onData(chunk: Buffer): void {
    this.handler.onData(chunk);
  }

  onEnd(): void {
    this.handler.onEnd();
  }

  onError(error: Error, sent: boolean): void {
    this.#isRenewing = false;
    this.handler.onError(error, sent || this.#wasSent);
  }

  #repeat(): void {
    this.#exchange?.abort();
    this.#exchange = undefined;
    this.#prove();
  }

  #prove(): void {
    const proof = this.prover.sign(this.request);
    if (!(proof instanceof Promise)) return this.#send(proof);
    proof.then(
      (headers) => this.#send(headers),
      (error: unknown) => {
        if (this.#isAborted) return;
        this.handler.onError(error instanceof Error ? error : new Error(String(error)), this.#wasSent);
      },
    );
  }

  #send(proof: Headers): void {
    if (this.#isAborted) return;
    this.#proof = proof;
    const { request } = this;
    this.#exchange = this.upstream.send({ ...request, headers: { ...request.headers, ...proof } }, this);
    if (this.#isPaused) this.#exchange.pause();
  }
}
