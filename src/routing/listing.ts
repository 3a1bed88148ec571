/** Asks an upstream which models it serves. */
import type { ListedModel } from "../families/family.js";
import type { UpstreamHandler } from "../upstream/upstream.js";
import type { ServedUpstream } from "./model.js";

const LIST_TIMEOUT_MS = 10_000;
const LIST_BYTES_MAX = 8 * 1024 * 1024;
const LIST_MODELS_MAX = 10_000;

/** Why a list could not be read. */
export class ListFailure extends Error {
  /** The HTTP status of the answer; undefined where none came. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "ListFailure";
    this.status = status;
  }
}

/**
 * The models of the upstream's own list; empty where its family has none. Rejects with a ListFailure. Other `headers`
 * than the upstream's own leave its credential out.
 */
export function listModels(served: ServedUpstream, headers = served.headers): Promise<readonly ListedModel[]> {
  const path = served.family.modelsPath;
  if (path === undefined) return Promise.resolve([]);
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
        if (bytes > LIST_BYTES_MAX) {
          exchange.abort();
          end(() => reject(new ListFailure("the list is too large", status)));
        } else chunks.push(chunk);
      },
      onEnd: () =>
        end(() => {
          if (status !== 200) return reject(new ListFailure(`the list answered with status ${status}`, status));
          try {
            resolve(served.family.readModels(Buffer.concat(chunks)).slice(0, LIST_MODELS_MAX));
          } catch (error) {
            reject(new ListFailure("the list cannot be read", status, { cause: error }));
          }
        }),
      onError: (error) => end(() => reject(new ListFailure("the list cannot be reached", undefined, { cause: error }))),
    };
    const timer = setTimeout(() => {
      exchange.abort();
      reject(new ListFailure("the list came too late"));
    }, LIST_TIMEOUT_MS);
    const exchange = served.upstream.send({ method: "GET", path, headers, body: undefined }, handler);
  });
}
