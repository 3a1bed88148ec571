/** Asks an issuer: in bounded time, for a bounded answer, and never elsewhere than where it was sent. */
import type { CustomFetchOptions } from "openid-client";
import { boundedBytes } from "../../base/bounded-bytes.js";

/** For the whole of it, from the name's look-up to the last byte. */
export const FETCH_MS = 5_000;
/** Documents of issuers have some kilobytes. */
export const ANSWER_BYTES_MAX = 256 * 1024;
/** They have no body by their nature. */
const EMPTY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

export type Fetched = Pick<CustomFetchOptions, "method" | "headers" | "body"> & {
  readonly signal?: AbortSignal | undefined;
};

/** Rejects where there is no answer in time, or too long a one. */
export async function boundedFetch(url: string, { method, headers, body, signal }: Fetched): Promise<Response> {
  const late = AbortSignal.timeout(FETCH_MS);
  const answer = await fetch(url, {
    method,
    headers,
    body: body ?? null,
    redirect: "manual",
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
  });
  const bytes = await boundedBytes(answer, ANSWER_BYTES_MAX);
  const { status, statusText } = answer;
  return new Response(EMPTY_STATUSES.has(status) ? null : bytes, { status, statusText, headers: answer.headers });
}
