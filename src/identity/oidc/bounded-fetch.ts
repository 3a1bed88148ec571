/** Asks an issuer: in bounded time, for a bounded answer, and never elsewhere than where it was sent. */
import type { CustomFetchOptions } from "openid-client";

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
  const bytes = await bytesOf(answer);
  const { status, statusText } = answer;
  return new Response(EMPTY_STATUSES.has(status) ? null : bytes, { status, statusText, headers: answer.headers });
}

async function bytesOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const part of body ?? []) {
    length += part.length;
    if (length > ANSWER_BYTES_MAX) throw new Error(`its answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
