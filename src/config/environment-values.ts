/** What values of environment variables must be, and how each is read. */
import { z } from "zod";
import { DATABASE_RULE, isDatabaseUrl } from "./database-url.js";
import { parseAddress, parseCoreAddress } from "./listen-address.js";
import { NANOS_PER_USD, parseUsd } from "../base/money.js";
import { parseRedisUrl, REDIS_RULE } from "./redis-url.js";

const LISTEN_RULE = 'must be "off" or host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080';
const CORE_RULE = "must be the host:port of a core's gRPC address, such as 10.0.0.5:8081 or grpcs://core.internal:8081";
export const PROXIES_RULE = "must be addresses or CIDR blocks with commas between, such as 10.0.0.0/8,192.168.1.7";
export const NETWORKS_RULE = "must be addresses or CIDR blocks with commas between, such as 10.0.0.0/8,fd00::/8";
export const SMTP_RULE = "must be an address such as smtps://user:password@mail.example.com:465 or smtp://127.0.0.1:25";
export const MAIL_FROM_RULE = "must be a mail address such as tollgate@example.com";
/** `*` is any. */
export const ORIGINS_RULE =
  "must be * or origins with commas between, such as https://app.example.com,http://localhost:5173";
const PUBLIC_URL_RULE = "must be an address without a path, such as https://llm.example.com";
export const WAIT_RULE = "must be a whole number of milliseconds from 0 to 600000";
export const MEMORY_RULE = "must be a whole number of MiB from 64 to 65536";
const LEASE_RULE = "must be USD from 0.01 to 1000000, such as 10 or 2.50";
const LEASE_NANOS_LEAST = NANOS_PER_USD / 100n;
const LEASE_NANOS_MOST = 1_000_000n * NANOS_PER_USD;
export const WORKERS_MAX = 64;
export const WORKERS_RULE = `must be a whole number of processes from 1 to ${WORKERS_MAX}`;
export const DAYS_RULE = "must be a whole number of days from 1 to 3650";
export const MIB = 1024 * 1024;
export const KEY_RULE = "must be sk- and at least 16 more characters";
export const SECRET_RULE = "must be at least 32 characters of your own random text";

export const listen = z.string().transform((text, context) => {
  if (text === "off") return undefined;
  return parseAddress(text) ?? refuse(context, LISTEN_RULE);
});

export const core = z.string().transform((text, context) => {
  return parseCoreAddress(text) ?? refuse(context, CORE_RULE);
});

/** Parts with commas between. */
export function listOf(rule: string, parse: (part: string) => string | undefined): z.ZodType<string[], string> {
  return z.string().transform((text, context) => {
    const parts = text.split(",").map((part) => parse(part.trim()));
    return parts.every((part) => part !== undefined) ? parts : refuse(context, rule);
  });
}

/** An origin as browsers write it; undefined where it is none. */
export function parseOrigin(text: string): string | undefined {
  if (text === "*") return text;
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  return origin === text && /^https?:/.test(origin) ? origin : undefined;
}

/** Where people and clients reach the gateway; undefined where it is no such address. */
function parsePublicUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return undefined;
  return url.pathname === "/" && url.search === "" && url.hash === "" ? url.origin : undefined;
}

export const publicUrl = z.string().transform((text, context) => {
  return parsePublicUrl(text) ?? refuse(context, PUBLIC_URL_RULE);
});

export const redis = z.string().transform((text, context) => {
  return parseRedisUrl(text) ?? refuse(context, REDIS_RULE);
});

export const databaseUrl = z.string().transform((text, context) => {
  return isDatabaseUrl(text) ? text : refuse(context, DATABASE_RULE);
});

export const leaseMax = z.string().transform((text, context) => {
  const nanos = parseUsd(text) ?? 0n;
  return nanos >= LEASE_NANOS_LEAST && nanos <= LEASE_NANOS_MOST ? nanos : refuse(context, LEASE_RULE);
});

/** A whole number in its bounds. */
export function numberOf(least: number, most: number, rule: string): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    return value >= least && value <= most ? value : refuse(context, rule);
  });
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}
