/** The cookie of a person's session: where it is taken, what must come with it, and how it is set. */
import { CONSOLE_HEADER } from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { ACCOUNT_HEADER, SESSION_HEADER, SET_SESSION_HEADER, USER_AGENT_HEADER } from "../api/session-headers.js";
import type { CallMetadata } from "../api/channel.js";
import { GatewayError } from "../errors.js";
import { flatRecord, metadataValue } from "./headers.js";

const PLACE = "/api/v1/";
/** The part of a path that names the account in which a person acts, whatever the header says. */
export const PLAYGROUND_ACCOUNT = "playground_account";
/** Browsers take a cookie of this name over HTTPS alone, for the whole of one host and no other. */
const SECURE_NAME = "__Host-tollgate";
/** On a developer's own machine, where there is no HTTPS. */
const PLAIN_NAME = "tollgate";
/** As long as a session can last. */
const MAX_AGE_S = 7 * 24 * 3_600;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|[\w-]+\.localhost)(?::\d+)?$/i;
const COOKIE_VALUE = /^[\w-]{1,128}$/;

/**
 * Adds to the metadata what the cookie says, where there is one and the caller shows no key. Throws SESSION_REFUSED
 * where it may have been sent by a page that is not ours.
 */
export function addSession({ headers, url, method, params }: FastifyRequest, metadata: Record<string, string>): void {
  if (!url.startsWith(PLACE)) return;
  if (headers["user-agent"] !== undefined) metadata[USER_AGENT_HEADER] = metadataValue(headers["user-agent"]);
  if (metadata["authorization"] !== undefined || metadata["x-api-key"] !== undefined) return;
  const token = cookieOf(headers);
  if (token === undefined) return;
  requireOwnPage(headers, method);
  metadata[SESSION_HEADER] = token;
  metadata[CONSOLE_HEADER] = "1";
  const account = flatRecord(params)[PLAYGROUND_ACCOUNT] ?? headers["x-tollgate-account"];
  if (typeof account === "string") metadata[ACCOUNT_HEADER] = metadataValue(account);
}

/** True where the request is a person's. */
export function isOfSession({ callMetadata }: FastifyRequest): boolean {
  return callMetadata?.[SESSION_HEADER] !== undefined;
}

/** The `set-cookie` of an answer; undefined where its head says nothing of a session. */
export function sessionCookie({ headers }: FastifyRequest, head: CallMetadata): string | undefined {
  const token = head[SET_SESSION_HEADER];
  if (token === undefined) return undefined;
  const isSecure = requireSafePlace(headers);
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  const life = token === "" ? 0 : MAX_AGE_S;
  return `${name}=${token}; Path=/; Max-Age=${life}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/**
 * Throws SESSION_REFUSED where a person could not sign in safely, before anything is looked at: a page of another
 * origin asks, or a network in between reads along.
 */
export function requireSignInPlace({ headers, method }: FastifyRequest): void {
  requireOwnPage(headers, method);
  requireSafePlace(headers);
}

/** True over HTTPS, false on the own machine. Throws SESSION_REFUSED elsewhere. */
function requireSafePlace({ origin, host = "" }: IncomingHttpHeaders): boolean {
  // The browser's own word, which no page can change; whoever else says it harms nobody else.
  if (origin?.startsWith("https://") === true) return true;
  if (LOOPBACK.test(host)) return false;
  throw refused("over plain HTTP anybody in between could take it; sign in over HTTPS, or on the machine itself");
}

function requireOwnPage(headers: IncomingHttpHeaders, method: string): void {
  if (headers[CONSOLE_HEADER] !== "1") throw refused(`the header '${CONSOLE_HEADER}: 1' is missing`);
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") throw refused("a page of another origin asks");
  // Browsers leave it out where a page only reads from its own origin.
  if (origin === undefined) {
    if (method === "GET" || method === "HEAD") return;
    throw refused("the header 'origin' is missing");
  }
  if (host !== undefined && (origin === `https://${host}` || origin === `http://${host}`)) return;
  throw refused("the page's origin is not this gateway's; a proxy in between must pass the host on as it came");
}

/** A plain one is taken on the own machine alone: elsewhere a page of a neighbouring host could have set it. */
function cookieOf({ cookie, host = "" }: IncomingHttpHeaders): string | undefined {
  if (cookie === undefined) return undefined;
  const found = new Map<string, string>();
  for (const pair of cookie.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    if (at > 0 && COOKIE_VALUE.test(value) && !found.has(name)) found.set(name, value);
  }
  return found.get(SECURE_NAME) ?? (LOOPBACK.test(host) ? found.get(PLAIN_NAME) : undefined);
}

function refused(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_SESSION_REFUSED", { problem });
}
