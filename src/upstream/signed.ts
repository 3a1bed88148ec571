/** An upstream that wants each request proven: what proves it is made first, then the request is sent. */
import type { Exchange, Upstream, UpstreamHandler, UpstreamRequest } from "./upstream.js";

type Headers = Readonly<Record<string, string>>;

/** The headers that prove a request; at once where they are at hand. Rejects where they cannot be made. */
export type Sign = (request: UpstreamRequest) => Headers | Promise<Headers>;

export function createSignedUpstream(upstream: Upstream, sign: Sign): Upstream {
  return {
    send: (request, handler) => {
      const headers = sign(request);
      const send = (proof: Headers): Exchange =>
        upstream.send({ ...request, headers: { ...request.headers, ...proof } }, handler);
      return headers instanceof Promise ? new WaitingExchange(headers, send, handler) : send(headers);
    },
    close: () => upstream.close(),
  };
}

/** An exchange whose request is not sent yet. */
class WaitingExchange implements Exchange {
  #exchange: Exchange | undefined;
  #isPaused = false;
  #isAborted = false;

  constructor(proof: Promise<Headers>, send: (proof: Headers) => Exchange, handler: UpstreamHandler) {
    proof.then(
      (headers) => {
        if (this.#isAborted) return;
        this.#exchange = send(headers);
        if (this.#isPaused) this.#exchange.pause();
      },
      (error: unknown) => {
        if (this.#isAborted) return;
        handler.onError(error instanceof Error ? error : new Error(String(error)), false);
      },
    );
  }

  pause(): void {
    this.#isPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#exchange?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#exchange?.abort();
  }
}
