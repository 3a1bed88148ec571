/** The cookies of people who have a session or begin one: where they are taken, and how they are set. */
import { CONSOLE_HEADER } from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import {
  ACCOUNT_HEADER,
  ORIGIN_HEADER,
  PENDING_HEADER,
  SESSION_HEADER,
  SET_SESSION_HEADER,
  USER_AGENT_HEADER,
} from "../api/session-headers.js";
import type { CallMetadata } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import { flatRecord, metadataValue } from "./headers.js";

const PLACE = "/api/v1/";
/** Where sign-ins at issuers begin and end. */
const ISSUERS_PLACE = "/api/v1/oidc/";
/** The part of a path that names the account in which a person acts, whatever the header says. */
export const PLAYGROUND_ACCOUNT = "playground_account";
/** Browsers take a cookie of this name over HTTPS alone, for the whole of one host and no other. */
const SECURE_NAME = "__Host-tollgate";
/** On a developer's own machine, where there is no HTTPS. */
const PLAIN_NAME = "tollgate";
/** What the name of the cookie of a sign-in at an issuer ends with. */
const PENDING = "-sign-in";
/** As long as a session can last, and as a person may take at an issuer. */
const MAX_AGE_S = 7 * 24 * 3_600;
const PENDING_MAX_AGE_S = 600;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|[\w-]+\.localhost)(?::\d+)?$/i;
const COOKIE_VALUE = /^[\w-]{1,128}$/;
const PENDING_VALUE = /^[\w-]{1,3800}$/;

/**
 * Adds to the metadata what the cookie says, where there is one and the caller shows no key. Throws SESSION_REFUSED
 * where it may have been sent by a page that is not ours.
 */
export function addSession({ headers, url, method, params }: FastifyRequest, metadata: Record<string, string>): void {
  if (!url.startsWith(PLACE)) return;
  if (headers["user-agent"] !== undefined) metadata[USER_AGENT_HEADER] = metadataValue(headers["user-agent"]);
  if (url.startsWith(ISSUERS_PLACE)) addPending(headers, metadata);
  if (metadata["authorization"] !== undefined || metadata["x-api-key"] !== undefined) return;
  const token = cookieOf(headers, "", COOKIE_VALUE);
  if (token === undefined) return;
  requireOwnPage(headers, method);
  metadata[SESSION_HEADER] = token;
  metadata[CONSOLE_HEADER] = "1";
  const account = flatRecord(params)[PLAYGROUND_ACCOUNT] ?? headers["x-tollgate-account"];
  if (typeof account === "string") metadata[ACCOUNT_HEADER] = metadataValue(account);
}

/** The origin is checked where the route is open: `requireSignInPlace`. */
function addPending(headers: IncomingHttpHeaders, metadata: Record<string, string>): void {
  const { origin } = headers;
  const pending = cookieOf(headers, PENDING, PENDING_VALUE);
  if (origin !== undefined) metadata[ORIGIN_HEADER] = metadataValue(origin);
  if (pending !== undefined) metadata[PENDING_HEADER] = pending;
}

/** True where the request is a person's. */
export function isOfSession({ callMetadata }: FastifyRequest): boolean {
  return callMetadata?.[SESSION_HEADER] !== undefined;
}

/** The `set-cookie` of an answer, one for each thing that its head says of sessions and of those that begin. */
export function sessionCookies({ headers }: FastifyRequest, head: CallMetadata): string[] {
  const set = [
    { value: head[SET_SESSION_HEADER], end: "", maxAgeS: MAX_AGE_S },
    { value: head[PENDING_HEADER], end: PENDING, maxAgeS: PENDING_MAX_AGE_S },
  ];
  return set.flatMap(({ value, end, maxAgeS }) => {
    if (value === undefined) return [];
    const isSecure = requireSafePlace(headers);
    const name = (isSecure ? SECURE_NAME : PLAIN_NAME) + end;
    const life = value === "" ? 0 : maxAgeS;
    return [`${name}=${value}; Path=/; Max-Age=${life}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`];
  });
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
  throw refused("sign-in needs HTTPS, or localhost");
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
function cookieOf({ cookie, host = "" }: IncomingHttpHeaders, end: string, form: RegExp): string | undefined {
  if (cookie === undefined) return undefined;
  const found = new Map<string, string>();
  for (const pair of cookie.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    if (at > 0 && form.test(value) && !found.has(name)) found.set(name, value);
  }
  return found.get(SECURE_NAME + end) ?? (LOOPBACK.test(host) ? found.get(PLAIN_NAME + end) : undefined);
}

function refused(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_SESSION_REFUSED", { problem });
}
