/** The environment variables of the gateway, read once at the start. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { type Address, parseAddress } from "./address.js";
import { ConfigError } from "./config-error.js";
import { suggest } from "./suggestion.js";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What the environment says, after it was checked. */
export interface Environment {
  /** Where HTTP listens; undefined where it is off. */
  readonly http: Address | undefined;
  /** Where gRPC listens; undefined where it is off. */
  readonly grpc: Address | undefined;
  /** The settings file, absolute; undefined where there is none. */
  readonly settingsPath: string | undefined;
  /** The directory of the database and of generated secrets, absolute. It need not exist. */
  readonly dataDirectory: string;
  /** The core's gRPC address, as host:port; set, this process is a front end only. */
  readonly core: string | undefined;
  readonly operatorKey: string | undefined;
  /** The root secret; undefined where it is generated. */
  readonly secret: string | undefined;
  readonly logLevel: LogLevel;
  /** What deserves a line in the log, such as a mistyped variable. */
  readonly warnings: readonly string[];
}

const LISTEN_RULE = 'must be "off" or host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080';
const CORE_RULE = "must be the host:port of a core's gRPC address, such as 10.0.0.5:8081";
const KEY_RULE = "must be sk- and at least 16 more characters";
const SECRET_RULE = "must be at least 32 characters of your own random text";
const NOT_YET = "is not supported yet: unset it, and this node keeps its own state in TOLLGATE_DATA";
const UNSHOWN: ReadonlySet<string> = new Set([
  "TOLLGATE_OPERATOR_KEY",
  "TOLLGATE_SECRET",
  "TOLLGATE_DATABASE_URL",
  "TOLLGATE_REDIS_URL",
]);
/** Variables with our prefix that are read elsewhere: by the commands, and by tests. */
const READ_ELSEWHERE = ["TOLLGATE_FAILPOINTS", "TOLLGATE_KEY", "TOLLGATE_RECORDINGS", "TOLLGATE_FAILPOINTS"];

const listen = z.string().transform((text, context) => {
  if (text === "off") return undefined;
  return parseAddress(text) ?? refuse(context, LISTEN_RULE);
});

const core = z.string().transform((text, context) => {
  const address = parseAddress(text);
  return address === undefined || address.port === 0 ? refuse(context, CORE_RULE) : text;
});

const SCHEMA = z.object({
  TOLLGATE_HTTP: listen.prefault("127.0.0.1:8080"),
  TOLLGATE_GRPC: listen.prefault("127.0.0.1:8081"),
  TOLLGATE_CONFIG: z.string().optional(),
  TOLLGATE_DATA: z.string().default("data"),
  TOLLGATE_DATABASE_URL: z.undefined(NOT_YET).optional(),
  TOLLGATE_REDIS_URL: z.undefined(NOT_YET).optional(),
  TOLLGATE_CORE: core.optional(),
  TOLLGATE_OPERATOR_KEY: z
    .string()
    .regex(/^sk-[\x21-\x7e]{16,253}$/, KEY_RULE)
    .optional(),
  TOLLGATE_SECRET: z.string().min(32, SECRET_RULE).optional(),
  TOLLGATE_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
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
    throw new ConfigError([sentence("TOLLGATE_HTTP", "off", "leaves nothing to serve")]);
  return {
    http: values.TOLLGATE_HTTP,
    // A front end has no services of its own to offer.
    grpc: values.TOLLGATE_CORE === undefined ? values.TOLLGATE_GRPC : undefined,
    settingsPath: findSettings(values.TOLLGATE_CONFIG, directory),
    dataDirectory: resolve(directory, values.TOLLGATE_DATA),
    core: values.TOLLGATE_CORE,
    operatorKey: values.TOLLGATE_OPERATOR_KEY,
    secret: values.TOLLGATE_SECRET,
    logLevel: values.TOLLGATE_LOG_LEVEL,
    warnings: warningsOf(set),
  };
}

function findSettings(named: string | undefined, directory: string): string | undefined {
  const path = resolve(directory, named ?? "tollgate.yaml");
  if (existsSync(path)) return path;
  if (named === undefined) return undefined;
  throw new ConfigError([sentence("TOLLGATE_CONFIG", named, "must be a settings file that exists")]);
}

function warningsOf(set: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...Object.keys(SCHEMA.shape), ...READ_ELSEWHERE];
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

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}
