/**
 * Posts one event to one webhook. The endpoint is a stranger's: it is reached at an address that was looked at, takes
 * bounded time and memory, leads nowhere else, and what it says is kept in a few characters.
 */
import { isIP, type LookupFunction } from "node:net";
import { buildConnector, Client } from "undici";
import { withoutSecrets } from "../base/redaction.js";
import type { Resolve } from "./names.js";
import type { WebhookNetworks } from "./networks.js";

export interface Posted {
  /** 0 where there was no answer. */
  readonly status: number;
  /** Why the event was not taken; empty where it was. */
  readonly problem: string;
  /** The beginning of the answer. */
  readonly answer: string;
}

export interface PostOptions {
  readonly networks: WebhookNetworks;
  /** For the whole of it, from the name's look-up to the last byte. */
  readonly totalMs?: number;
  readonly connectMs?: number;
  readonly resolve: Resolve;
}

const TOTAL_MS = 15_000;
const CONNECT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024;
const ANSWER_CHARACTERS_KEPT = 1_024;

/** What is wrong with an address, in words that its owner may read. */
class AddressRefusal extends Error {}

/** Never rejects. */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  options: PostOptions,
): Promise<Posted> {
  const { totalMs = TOTAL_MS } = options;
  // A connection of its own each time: nothing that one endpoint does to it concerns another.
  const client = new Client(url.origin, {
    connect: connector(options),
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    // One time bounds it all; two that end together would tell now this, now that.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error("it took too long")), totalMs);
  try {
    const path = url.pathname + url.search;
    const answered = await client.request({ path, method: "POST", headers, body, signal: ending.signal });
    const { statusCode: status } = answered;
    const answer = await beginningOf(answered.body);
    return { status, problem: problemOf(status), answer };
  } catch (error) {
    return { status: 0, problem: ending.signal.aborted ? "timed out" : wordsOf(error), answer: "" };
  } finally {
    clearTimeout(timer);
    void client.destroy().catch(() => undefined);
  }
}

function problemOf(status: number): string {
  if (status >= 200 && status < 300) return "";
  if (status >= 300 && status < 400) return `it answered with status ${status}: redirects are not followed`;
  return `it answered with status ${status}`;
}

/** Looks at every address before it is connected to, whether it stands in the URL or a name leads there. */
function connector({ networks, connectMs = CONNECT_MS, resolve }: PostOptions): buildConnector.connector {
  // undici hands these to net.connect and tls.connect, which ask them for every name.
  const build = (isSecure: boolean): buildConnector.connector => {
    const lookup = guarded(resolve, (address) => networks.problemOf(address, isSecure));
    return buildConnector({ timeout: connectMs, lookup } as buildConnector.BuildOptions);
  };
  const [plain, secure] = [build(false), build(true)];
  return (asked, callback) => {
    const isSecure = asked.protocol === "https:";
    const host = asked.hostname.replaceAll(/^\[|\]$/g, "");
    // An address that stands in the URL is never looked up.
    const problem = isIP(host) === 0 ? undefined : networks.problemOf(host, isSecure);
    if (problem === undefined) (isSecure ? secure : plain)(asked, callback);
    else callback(new AddressRefusal(problem), null);
  };
}

function guarded(resolve: Resolve, problemOf: (address: string) => string | undefined): LookupFunction {
  return (host, asked, callback) => {
    const found = (addresses: Awaited<ReturnType<Resolve>>): void => {
      const problems = addresses.map(({ address }) => problemOf(address));
      // One good address beside a bad one is how a name is made to lead elsewhere.
      const problem = problems.find((one) => one !== undefined);
      const [first] = addresses;
      if (problem !== undefined) callback(new AddressRefusal(problem), []);
      else if (first === undefined) callback(new AddressRefusal("its name leads to no address"), []);
      else if (asked.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    resolve(host).then(found, (error: Error) => callback(error, []));
  };
}

/** Reads no more than the bound, and keeps less. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < ANSWER_CHARACTERS_KEPT * 4) kept.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The status is what counts; an answer that breaks off after it has said enough.
  }
  const text = Buffer.concat(kept).toString("utf8").slice(0, ANSWER_CHARACTERS_KEPT);
  return withoutSecrets(text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, " "));
}

/** The words of an error that its owner may read: never what came or went. */
function wordsOf(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefusal) return cause.message;
    const code: unknown = Reflect.get(cause, "code");
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return wordsOf(cause.errors[0]);
    if (typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code)) return `the connection failed: ${code}`;
  }
  return "the connection failed";
}
