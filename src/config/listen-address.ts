/** Network addresses as settings write them: host and port. */
import { isIP, isIPv6 } from "node:net";

/** Where to listen, or whom to reach. */
export interface Address {
  /** A name or an IP literal, IPv6 without brackets. */
  readonly host: string;
  /** 0 to listen on any free port. */
  readonly port: number;
}

const FORM = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]{1,253})):(\d{1,5})$/;

/** Reads `127.0.0.1:8080`, `localhost:0` or `[::1]:8080`. Undefined where it is no such address. */
export function parseAddress(text: string): Address | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  // Four numbers that are no IPv4 address would be looked up as a name and fail far from here.
  if (plain === undefined || (/^[\d.]+$/.test(plain) && isIP(plain) === 0)) return undefined;
  return { host: plain, port };
}

/** Where a core is, and whether it speaks TLS. */
export interface CoreAddress {
  /** `host:port`. */
  readonly address: string;
  readonly isSecure: boolean;
}

/** Reads `host:port`, `grpc://host:port`, or with TLS `grpcs://host:port`; `http` and `https` mean the same two. */
export function parseCoreAddress(text: string): CoreAddress | undefined {
  const match = /^(?:(grpcs?|https?):\/\/)?([^/]+)\/?$/.exec(text);
  const [, scheme = "grpc", address = ""] = match ?? [];
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.port === 0) return undefined;
  return { address, isSecure: scheme === "grpcs" || scheme === "https" };
}

/** A CIDR block; a lone address is a block of one. Undefined where it is none. */
export function parseBlock(text: string): string | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(match?.[1] ?? "")] ?? -1;
  const bits = Number(match?.[2] ?? bitsMax);
  return bitsMax > 0 && bits <= bitsMax ? `${match?.[1]}/${bits}` : undefined;
}

/** Writes an address as it is read: an IPv6 literal in brackets. */
export function formatAddress(address: Address): string {
  return isIPv6(address.host) ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
