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

/** Writes an address as it is read: an IPv6 literal in brackets. */
export function formatAddress(address: Address): string {
  return isIPv6(address.host) ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
