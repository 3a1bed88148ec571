/** Where a call comes from: the socket's word, or that of a front end which we believe. */
import { createHash } from "node:crypto";
import { equalInConstantTime } from "../../base/constant-time.js";
import { isIP, isIPv4 } from "node:net";
import type { CallMetadata } from "../../api/channel.js";
import type { TrustedProxies } from "../../keys/proxies.js";

/** The client's address as a front end saw it. */
export const CLIENT_ADDRESS_HEADER = "x-tollgate-client-address";
/** The token by which a front end in another process shows that it is ours. */
export const FRONT_HEADER = "x-tollgate-front";

export interface Origin {
  readonly metadata: CallMetadata;
  /** The address of the socket's other end; empty in one process. */
  readonly peer: string;
  /** True where the metadata is our own: the call comes from this process, or through a front end's tunnel. */
  readonly local: boolean;
}

const FORWARDED_HEADER = "x-forwarded-for";

/** The client's address as an IP literal; empty where nobody knows it. */
export function clientAddress(
  origin: Origin,
  frontTokens: readonly string[],
  proxies: TrustedProxies | undefined,
): string {
  const told = origin.metadata[CLIENT_ADDRESS_HEADER];
  if (told !== undefined && (origin.local || isFront(origin.metadata[FRONT_HEADER], frontTokens))) {
    return canonical(told);
  }
  const peer = canonical(origin.peer);
  return proxies === undefined ? peer : proxies.clientOf(peer, origin.metadata[FORWARDED_HEADER]);
}

/** The address of a socket's other end, from `address:port` as grpc-js writes it, IPv6 without brackets. */
export function peerAddress(peer: string): string {
  return canonical(peer.slice(0, Math.max(peer.lastIndexOf(":"), 0)));
}

/** True for a token that only our own front ends know. */
export function isFront(shown: string | undefined, frontTokens: readonly string[]): boolean {
  if (shown === undefined) return false;
  return frontTokens.some((token) => token !== "" && equalInConstantTime(digest(shown), digest(token)));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** An address in one spelling; empty where it is none. */
function canonical(address: string): string {
  if (isIPv4(address)) return address;
  const bare = address.trim().replace(/%.*$/, "");
  const mapped = /^::ffff:(.+)$/i.exec(bare)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  return isIP(bare) === 0 ? "" : bare;
}
