/** The environment variables of the gateway, read once at the start. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { type Address, parseBlock } from "./listen-address.js";
import { ConfigError } from "./config-error.js";
import {
  core,
  databaseUrl,
  DAYS_RULE,
  KEY_RULE,
  leaseMax,
  listen,
  listOf,
  MAIL_FROM_RULE,
  MEMORY_RULE,
  MIB,
  NETWORKS_RULE,
  numberOf,
  ORIGINS_RULE,
  parseOrigin,
  PROXIES_RULE,
  publicUrl,
  redis,
  SECRET_RULE,
  SMTP_RULE,
  WAIT_RULE,
  WORKERS_MAX,
  WORKERS_RULE,
} from "./environment-values.js";
import type { RedisUrl } from "./redis-url.js";
import { parseSecretSource, SOURCES_RULE } from "./secret-sources.js";
import { COMMAND_VARIABLES } from "./command-variables.js";
import { suggest } from "./suggestion.js";
import type { TlsPaths } from "./tls.js";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What the environment says, after it was checked. */
export interface Environment {
  /** Where HTTP listens; undefined where it is off. */
  readonly http: Address | undefined;
  /** Where gRPC listens; undefined where it is off. */
  readonly grpc: Address | undefined;
  /** Where metrics, health and reflection are; undefined where they are off. */
  readonly admin: Address | undefined;
  /** CIDR blocks of the proxies that say who their client is. */
  readonly trustedProxies: readonly string[];
  /** Whether the gRPC address answers reflection. */
  readonly grpcReflection: boolean;
  /** Origins of web pages that may use the client API; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** Where people and clients reach the gateway, as links begin; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  /** CIDR blocks of networks that are not public, and that webhooks may lead to. */
  readonly webhookNetworks: readonly string[];
  /** The server that mail goes to, with its password, and who sends it; undefined: none is sent. */
  readonly mail: { readonly url: string; readonly from: string } | undefined;
  /** What both listeners show; undefined where they speak no TLS. gRPC's clients must show certificates of `ca`. */
  readonly tls: TlsPaths | undefined;
  /** How long a stopping process says that it is not ready before it closes its ports. */
  readonly lameDuckMs: number;
  /** The memory that the bodies of running requests may take. */
  readonly bodyMemoryBytes: number;
  /** The settings file, absolute; undefined where there is none. */
  readonly settingsPath: string | undefined;
  /** The directory of the database and of generated secrets, absolute. It need not exist. */
  readonly dataDirectory: string;
  /** How long the record of a request is kept, and that of a refusal. */
  readonly recordDays: number;
  readonly refusalRecordDays: number;
  /** How long content is kept, of accounts that have it kept. */
  readonly contentDays: number;
  /** Where the ledger's witness is kept, absolute; undefined: in the data directory. */
  readonly witnessPath: string | undefined;
  /** The core's gRPC address, as host:port; set, this process is a front end only. */
  readonly core: string | undefined;
  /** How the core is trusted, and what is shown to it; undefined where it speaks no TLS. */
  readonly coreTls: TlsPaths | undefined;
  /** Where nodes share limits and changes of keys; undefined where this node is alone. */
  readonly redis: RedisUrl | undefined;
  /** The authority of Redis' certificate, absolute; undefined: those that Node knows. */
  readonly redisCa: string | undefined;
  /** The PostgreSQL that many nodes share, with its password; undefined: SQLite in the data directory. */
  readonly databaseUrl: string | undefined;
  /** The most that one lease of money may have: what a node that is cut off can cost. */
  readonly leaseNanosMax: bigint;
  /** How many processes share the ports. */
  readonly workers: number;
  readonly operatorKey: string | undefined;
  /** The root secret; undefined where it is generated. */
  readonly secret: string | undefined;
  /** The root secret that was in force before, while its keys are taken over. */
  readonly secretPrevious: string | undefined;
  /** The root secret that comes next, while nodes are told of it. */
  readonly secretNext: string | undefined;
  readonly logLevel: LogLevel;
  /** Whom the installation asks for a second factor when signing in with a password. */
  readonly secondFactorFor: "nobody" | "operators" | "everyone";
  /** Whether HTTP serves the web console. */
  readonly console: boolean;
  /** Beginnings of references such as `env:OPENAI_` that a settings text may add where it is edited over the API. */
  readonly secretSources: readonly string[];
  /** Whether requests are refused early where more come than this process can work off. */
  readonly shedsLoad: boolean;
  /** What deserves a line in the log, such as a mistyped variable. */
  readonly warnings: readonly string[];
}

const UNSHOWN: ReadonlySet<string> = new Set([
  "TOLLGATE_OPERATOR_KEY",
  "TOLLGATE_SECRET",
  "TOLLGATE_SECRET_PREVIOUS",
  "TOLLGATE_SECRET_NEXT",
  "TOLLGATE_DATABASE_URL",
  "TOLLGATE_REDIS_URL",
  "TOLLGATE_SMTP_URL",
]);
/** What files of TLS are called behind `TOLLGATE_`. */
type TlsNames = readonly ["TLS_CLIENT_CA", "TLS_CERT", "TLS_KEY"] | readonly ["CORE_CA", "CORE_CERT", "CORE_KEY"];
/** What the process that keeps workers tells each. */
export const WORKER_PART = "TOLLGATE_WORKER_PART";
/** Variables with our prefix that only tests set. */
const TEST_VARIABLES = ["TOLLGATE_FAILPOINTS", "TOLLGATE_RECORDINGS"];

/** Each variable: what it must be, what it is where it is not set, and what it says. */
export const SCHEMA = z.object({
  TOLLGATE_HTTP: listen.prefault("127.0.0.1:8080").describe("The address of the HTTP listener; `off` disables it"),
  TOLLGATE_GRPC: listen.prefault("127.0.0.1:8081").describe("The address of the gRPC listener; `off` disables it"),
  TOLLGATE_ADMIN: listen
    .prefault("127.0.0.1:8082")
    .describe(
      "The address of `/metrics`, health probes, gRPC health and gRPC reflection, without a key and without TLS; `off` disables it",
    ),
  TOLLGATE_TRUSTED_PROXIES: listOf(PROXIES_RULE, parseBlock)
    .optional()
    .describe("Proxies whose `X-Forwarded-For` the gateway trusts: addresses and CIDR blocks, separated by commas"),
  TOLLGATE_GRPC_REFLECTION: z
    .enum(["on", "off"], "must be on or off")
    .default("off")
    .describe("`on` serves gRPC reflection at the gRPC address too, to callers with a key ([grpc.md](grpc.md#stubs))"),
  TOLLGATE_CORS_ORIGINS: listOf(ORIGINS_RULE, parseOrigin)
    .optional()
    .describe(
      "Origins of web pages whose scripts may call the client API with a key, separated by commas, or `*` ([security-model.md](security-model.md#web-pages)). Default: none",
    ),
  TOLLGATE_PUBLIC_URL: publicUrl
    .optional()
    .describe(
      "The public address of the gateway, such as `https://llm.example.com`; links that the gateway prints or mails begin with it, and passkeys belong to its host name ([people.md](people.md#the-second-factor)). Default: the address of the HTTP listener",
    ),
  TOLLGATE_SMTP_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol), SMTP_RULE)
    .optional()
    .describe("The mail server for alert mails, such as `smtps://user:password@mail.example.com:465`"),
  TOLLGATE_MAIL_FROM: z
    .string()
    .regex(/^[^\s@<>]{1,64}@[A-Za-z0-9.-]{1,253}$/, MAIL_FROM_RULE)
    .optional()
    .describe("The sender address of alert mails; required with `TOLLGATE_SMTP_URL`"),
  TOLLGATE_WEBHOOK_NETWORKS: listOf(NETWORKS_RULE, parseBlock)
    .optional()
    .describe(
      "Private addresses and CIDR blocks that webhooks may call, separated by commas; by default they may call public addresses only",
    ),
  TOLLGATE_TLS_CERT: z
    .string()
    .optional()
    .describe("The TLS certificate of the HTTP and gRPC listeners: a PEM file, which is reloaded when it changes"),
  TOLLGATE_TLS_KEY: z.string().optional().describe("The private key of `TOLLGATE_TLS_CERT`: a PEM file"),
  TOLLGATE_TLS_CLIENT_CA: z
    .string()
    .optional()
    .describe("The CA of the client certificates that gRPC clients must present (mutual TLS): a PEM file"),
  TOLLGATE_LAME_DUCK_MS: numberOf(0, 600_000, WAIT_RULE)
    .prefault("5000")
    .describe("At shutdown, how many milliseconds the process reports not ready before it closes its ports"),
  TOLLGATE_BODY_MEMORY_MIB: numberOf(64, 65_536, MEMORY_RULE)
    .prefault("512")
    .describe(
      "Memory in MiB for the bodies of running requests; the gateway may use the same amount again for their non-streamed answers. One key may use a quarter of the first, and one account a quarter of the second",
    ),
  TOLLGATE_LOAD_SHEDDING: z
    .enum(["on", "off"], "must be on or off")
    .default("on")
    .describe(
      "`off` stops the gateway from refusing requests early when it is overloaded ([operations.md](operations.md#overload))",
    ),
  TOLLGATE_RECORD_DAYS: numberOf(1, 3_650, DAYS_RULE)
    .prefault("90")
    .describe("How many days the record of a request is kept; its cost stays in the ledger"),
  TOLLGATE_REFUSAL_RECORD_DAYS: numberOf(1, 3_650, DAYS_RULE)
    .prefault("30")
    .describe("How many days the gateway keeps the record of a refused request"),
  TOLLGATE_CONTENT_DAYS: numberOf(1, 3_650, DAYS_RULE)
    .prefault("7")
    .describe("How many days the gateway keeps the content of requests and answers, for accounts that store content"),
  TOLLGATE_CONFIG: z.string().optional().describe("The settings file; default: `tollgate.yaml`, if it exists"),
  TOLLGATE_DATA: z
    .string()
    .default("data")
    .describe(
      "The directory of the database, its witness file and the generated secret. If one of them is missing but another exists, the start fails with a message (see `serve --accept-loss`)",
    ),
  TOLLGATE_WITNESS: z
    .string()
    .optional()
    .describe(
      "The witness file, by which a start detects lost data ([ledger.md](ledger.md#the-witness)); default: `witness.json` in `TOLLGATE_DATA`. Put it on another disk: if `TOLLGATE_DATA` is lost, the gateway then refuses to start, and does not grant the credit of the settings file a second time",
    ),
  TOLLGATE_DATABASE_URL: databaseUrl
    .optional()
    .describe(
      "The PostgreSQL database (14 or later) that the nodes share, instead of the database in `TOLLGATE_DATA`; requires `TOLLGATE_SECRET` ([postgresql.md](postgresql.md))",
    ),
  TOLLGATE_REDIS_URL: redis
    .optional()
    .describe("The Redis for limits and key changes that nodes share ([nodes.md](nodes.md))"),
  TOLLGATE_REDIS_CA: z
    .string()
    .optional()
    .describe("The CA of the Redis certificate: a PEM file; default: the CAs that Node.js trusts"),
  TOLLGATE_LEASE_MAX_USD: leaseMax
    .prefault("10")
    .describe(
      "The largest lease, in USD. A lease is money that one node reserves in advance for one key; a request that it covers starts before the database has recorded the request ([ledger.md](ledger.md#leases))",
    ),
  TOLLGATE_WORKERS: numberOf(1, WORKERS_MAX, WORKERS_RULE)
    .prefault("1")
    .describe("The number of processes that serve requests; each is a node ([nodes.md](nodes.md#workers))"),
  TOLLGATE_CORE: core
    .optional()
    .describe(
      "Runs only the HTTP front end, which sends requests to the core at this gRPC address; `grpcs://host:port` for TLS",
    ),
  TOLLGATE_CORE_CA: z
    .string()
    .optional()
    .describe("The CA of the core's certificate: a PEM file; default: the CAs that Node.js trusts"),
  TOLLGATE_CORE_CERT: z.string().optional().describe("The client certificate for the core: a PEM file"),
  TOLLGATE_CORE_KEY: z.string().optional().describe("The private key of `TOLLGATE_CORE_CERT`: a PEM file"),
  TOLLGATE_OPERATOR_KEY: z
    .string()
    .regex(/^sk-[\x21-\x7e]{16,253}$/, KEY_RULE)
    .optional()
    .describe("The operator's key; default: generated at the first start. Commands use it too"),
  TOLLGATE_SECRET: z
    .string()
    .min(32, SECRET_RULE)
    .optional()
    .describe(
      "The root secret, from which the pepper of the API key hashes is derived; default: generated at the first start. Give a front end (`TOLLGATE_CORE`) the secret of its core: it then sends many calls over one gRPC stream (a tunnel), and the core trusts the client addresses that it forwards",
    ),
  TOLLGATE_SECRET_PREVIOUS: z
    .string()
    .min(32, SECRET_RULE)
    .optional()
    .describe(
      "During a rotation, the old root secret; set it together with the new `TOLLGATE_SECRET` ([secret-rotation.md](secret-rotation.md))",
    ),
  TOLLGATE_SECRET_NEXT: z
    .string()
    .min(32, SECRET_RULE)
    .optional()
    .describe("Before a rotation with several nodes, the next root secret; set it on every node first"),
  TOLLGATE_SECRET_SOURCES: listOf(SOURCES_RULE, parseSecretSource)
    .optional()
    .describe(
      "Secrets to which settings from the console or the API may refer: prefixes separated by commas, such as `env:OPENAI_` or `file:/run/secrets/`. A person who may edit the settings can send these secrets to any address. Default: none",
    ),
  TOLLGATE_SECOND_FACTOR: z
    .enum(["nobody", "operators", "everyone"], "must be nobody, operators or everyone")
    .default("nobody")
    .describe(
      "Who needs a second factor to sign in with a password: `nobody`, `operators` or `everyone` ([people.md](people.md))",
    ),
  TOLLGATE_CONSOLE: z
    .enum(["on", "off"], "must be on or off")
    .default("on")
    .describe("`off` disables the web console at `/console` ([console.md](console.md))"),
  TOLLGATE_LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`)
    .default("info")
    .describe(`The lowest level that is logged: ${LOG_LEVELS.join(", ")}`),
});

/**
 * Reads the environment; relative paths start at `directory`. An empty variable counts as unset. Throws a ConfigError
 * of one line that
 * names the variable, its value unless that is a secret, and what is right.
 */
export function readEnvironment(env: NodeJS.ProcessEnv, directory: string = process.cwd()): Environment {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const result = SCHEMA.safeParse(set);
  if (!result.success) {
    const [issue] = result.error.issues;
    const name = String(issue?.path[0]);
    throw new ConfigError([sentence(name, set[name] ?? "", issue?.message ?? "is wrong")]);
  }
  const values = result.data;
  if (values.TOLLGATE_HTTP === undefined && (values.TOLLGATE_GRPC === undefined || values.TOLLGATE_CORE !== undefined))
    throw new ConfigError([sentence("TOLLGATE_HTTP", "off", "turns off the only listener")]);
  requirePair(set, "TOLLGATE_TLS_CERT", "TOLLGATE_TLS_KEY", "TOLLGATE_TLS_CLIENT_CA");
  requirePair(set, "TOLLGATE_CORE_CERT", "TOLLGATE_CORE_KEY");
  requirePair(set, "TOLLGATE_SMTP_URL", "TOLLGATE_MAIL_FROM");
  // Each node that made one of its own would know no key of the others.
  if (values.TOLLGATE_DATABASE_URL !== undefined && values.TOLLGATE_SECRET === undefined)
    throw new ConfigError(["TOLLGATE_DATABASE_URL needs TOLLGATE_SECRET beside it, the same on every node"]);
  if (values.TOLLGATE_SECRET_PREVIOUS !== undefined && values.TOLLGATE_SECRET_NEXT !== undefined)
    throw new ConfigError(["TOLLGATE_SECRET_NEXT and TOLLGATE_SECRET_PREVIOUS are steps of one rotation: set one"]);
  const path = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : resolve(directory, name);
  const filesOf = (...[ca, cert, key]: TlsNames): TlsPaths => ({
    ca: path(values[`TOLLGATE_${ca}`]),
    cert: path(values[`TOLLGATE_${cert}`]),
    key: path(values[`TOLLGATE_${key}`]),
  });
  return {
    http: values.TOLLGATE_HTTP,
    admin: values.TOLLGATE_ADMIN,
    trustedProxies: values.TOLLGATE_TRUSTED_PROXIES ?? [],
    grpcReflection: values.TOLLGATE_GRPC_REFLECTION === "on",
    corsOrigins: values.TOLLGATE_CORS_ORIGINS ?? [],
    publicUrl: values.TOLLGATE_PUBLIC_URL,
    mail: mailOf(values),
    webhookNetworks: values.TOLLGATE_WEBHOOK_NETWORKS ?? [],
    tls: values.TOLLGATE_TLS_CERT === undefined ? undefined : filesOf("TLS_CLIENT_CA", "TLS_CERT", "TLS_KEY"),
    lameDuckMs: values.TOLLGATE_LAME_DUCK_MS,
    shedsLoad: values.TOLLGATE_LOAD_SHEDDING === "on",
    recordDays: values.TOLLGATE_RECORD_DAYS,
    refusalRecordDays: values.TOLLGATE_REFUSAL_RECORD_DAYS,
    contentDays: values.TOLLGATE_CONTENT_DAYS,
    bodyMemoryBytes: values.TOLLGATE_BODY_MEMORY_MIB * MIB,
    // A front end has no services of its own to offer.
    grpc: values.TOLLGATE_CORE === undefined ? values.TOLLGATE_GRPC : undefined,
    settingsPath: findSettings(values.TOLLGATE_CONFIG, directory),
    dataDirectory: resolve(directory, values.TOLLGATE_DATA),
    witnessPath: path(values.TOLLGATE_WITNESS),
    core: values.TOLLGATE_CORE?.address,
    coreTls: values.TOLLGATE_CORE?.isSecure === true ? filesOf("CORE_CA", "CORE_CERT", "CORE_KEY") : undefined,
    redis: values.TOLLGATE_REDIS_URL,
    redisCa: path(values.TOLLGATE_REDIS_CA),
    databaseUrl: values.TOLLGATE_DATABASE_URL,
    leaseNanosMax: values.TOLLGATE_LEASE_MAX_USD,
    workers: values.TOLLGATE_WORKERS,
    operatorKey: values.TOLLGATE_OPERATOR_KEY,
    secret: values.TOLLGATE_SECRET,
    secretPrevious: values.TOLLGATE_SECRET_PREVIOUS,
    secretNext: values.TOLLGATE_SECRET_NEXT,
    logLevel: values.TOLLGATE_LOG_LEVEL,
    secondFactorFor: values.TOLLGATE_SECOND_FACTOR,
    console: values.TOLLGATE_CONSOLE === "on",
    secretSources: values.TOLLGATE_SECRET_SOURCES ?? [],
    warnings: warningsOf(set),
  };
}

function mailOf({ TOLLGATE_SMTP_URL: url, TOLLGATE_MAIL_FROM: from }: z.output<typeof SCHEMA>): Environment["mail"] {
  return url === undefined || from === undefined ? undefined : { url, from };
}

/** A certificate is nothing without its key, and `more` is nothing without both. */
function requirePair(set: Readonly<Record<string, unknown>>, first: string, second: string, more?: string): void {
  const names = [first, second];
  const missing = names.find((name) => set[name] === undefined);
  const asker = [...names, more ?? first].find((name) => set[name] !== undefined);
  if (missing !== undefined && asker !== undefined) throw new ConfigError([`${asker} needs ${missing} beside it`]);
}

function findSettings(named: string | undefined, directory: string): string | undefined {
  const path = resolve(directory, named ?? "tollgate.yaml");
  if (existsSync(path)) return path;
  if (named === undefined) return undefined;
  throw new ConfigError([sentence("TOLLGATE_CONFIG", named, "must be a settings file that exists")]);
}

function warningsOf(set: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...Object.keys(SCHEMA.shape), ...Object.keys(COMMAND_VARIABLES), ...TEST_VARIABLES, WORKER_PART];
  const warnings = Object.keys(set)
    .filter((name) => name.startsWith("TOLLGATE_") && !known.includes(name))
    .sort()
    .map((name) => `${name} is not a variable that Tollgate reads${suggest(name, known)}`);
  if (set["TOLLGATE_CORE"] !== undefined && set["TOLLGATE_GRPC"] !== undefined)
    warnings.push("TOLLGATE_GRPC has no effect where TOLLGATE_CORE is set");
  return warnings;
}

function sentence(name: string, value: string, rule: string): string {
  // A line break in a value must not make two lines of one.
  return UNSHOWN.has(name) ? `${name} ${rule}` : `${name}=${JSON.stringify(value)} ${rule}`;
}
