/** Looks up the names of webhooks, beside the threads that the process shares for its own names and files. */
import { Resolver } from "node:dns/promises";

export interface FoundAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Rejects where there is no such name, or nobody who answers for it. */
export type Resolve = (host: string) => Promise<readonly FoundAddress[]>;

const TRY_MS = 2_000;
const TRIES = 2;
/** A name with more is made to be tried one after the other. */
const ADDRESSES_MAX = 8;

/** A server of names that is slow, as a stranger's may be on purpose, holds up nobody but its own name. */
export async function resolveName(host: string): Promise<readonly FoundAddress[]> {
  if (host === "localhost" || host.endsWith(".localhost")) return [{ address: "127.0.0.1", family: 4 }];
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
  const found: FoundAddress[] = [];
  if (v4.status === "fulfilled") for (const address of v4.value) found.push({ address, family: 4 });
  if (v6.status === "fulfilled") for (const address of v6.value) found.push({ address, family: 6 });
  return found.slice(0, ADDRESSES_MAX);
}
