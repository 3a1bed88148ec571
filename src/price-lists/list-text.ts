/** Reads a list of prices over the network: in bounded time, of bounded length, and from where it was asked alone. */
import { boundedBytes } from "../base/bounded-bytes.js";

/** Public lists have some million bytes. */
const BYTES_MAX = 16 * 1024 * 1024;
/** For the whole of it, from the name's look-up to the last byte. */
const READ_MS = 30_000;

/** Rejects where there is no whole answer. */
export async function textAt(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(READ_MS) });
  const bytes = await boundedBytes(answer, BYTES_MAX);
  if (!answer.ok) throw new Error(`the server answered with status ${answer.status}`);
  return bytes.toString();
}
