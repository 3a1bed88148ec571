/** One question to an upstream outside of clients' requests: its list of models, or a call that tests it. */
import type { UpstreamHandler } from "../upstream/upstream.js";
import type { ServedUpstream } from "./model.js";

/** Why there is no answer that can be used. */
export class ExchangeFailure extends Error {
  /** The HTTP status of the answer; undefined where none came. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExchangeFailure";
    this.status = status;
  }
}

export interface ExchangeRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** As in a request to an upstream. */
  readonly isOfServer?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** What is asked for, as the beginning of a sentence: `the list`. */
  readonly what: string;
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

export interface Exchanged {
  readonly status: number;
  readonly body: Buffer;
}

/** The whole answer, whatever its status. Rejects with an ExchangeFailure. */
export function exchange(
  { upstream }: Pick<ServedUpstream, "upstream">,
  { what, bytesMax, timeoutMs, ...request }: ExchangeRequest,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    const end = (finish: () => void): void => {
      clearTimeout(timer);
      finish();
    };
    const handler: UpstreamHandler = {
      onHead: (code) => {
        status = code;
      },
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes > bytesMax) {
          sent.abort();
          end(() => reject(new ExchangeFailure(`${what} is too large`, status)));
        } else chunks.push(chunk);
      },
      onEnd: () => end(() => resolve({ status, body: Buffer.concat(chunks) })),
      onError: (error) =>
        end(() => reject(new ExchangeFailure(`${what} cannot be reached`, undefined, { cause: error }))),
    };
    const timer = setTimeout(() => {
      sent.abort();
      reject(new ExchangeFailure(`${what} came too late`));
    }, timeoutMs);
    const sent = upstream.send(request, handler);
  });
}
