/** The environment variables: defaults, forms, and the one line that stops the start. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { DATABASE_RULE } from "../../src/config/database-url.js";
import { formatAddress, parseAddress } from "../../src/config/listen-address.js";
import { REDIS_RULE } from "../../src/config/redis-url.js";
import { readEnvironment } from "../../src/config/environment.js";

const directory = mkdtempSync(join(tmpdir(), "tollgate-environment-"));
afterAll(() => rmSync(directory, { recursive: true }));

const DEFAULTS = {
  http: { host: "127.0.0.1", port: 8080 },
  grpc: { host: "127.0.0.1", port: 8081 },
  admin: { host: "127.0.0.1", port: 8082 },
  trustedProxies: [],
  corsOrigins: [],
  shedsLoad: true,
  publicUrl: undefined,
  grpcReflection: false,
  webhookNetworks: [],
  mail: undefined,
  tls: undefined,
  coreTls: undefined,
  leaseNanosMax: 10_000_000_000n,
  workers: 1,
  lameDuckMs: 5_000,
  recordDays: 90,
  contentDays: 7,
  refusalRecordDays: 30,
  bodyMemoryBytes: 512 * 1024 * 1024,
  settingsPath: undefined,
  dataDirectory: join(directory, "data"),
  witnessPath: undefined,
  core: undefined,
  redis: undefined,
  redisCa: undefined,
  operatorKey: undefined,
  secret: undefined,
  secretPrevious: undefined,
  secretNext: undefined,
  databaseUrl: undefined,
  logLevel: "info",
  secondFactorFor: "nobody",
  secretSources: [],
  console: true,
  warnings: [],
};

describe("a good environment", () => {
  test.each([
    { name: "nothing set", env: {}, want: {} },
    { name: "an empty variable counts as unset", env: { TOLLGATE_HTTP: "", TOLLGATE_SECRET: "" }, want: {} },
    {
      name: "a free port on IPv6",
      env: { TOLLGATE_HTTP: "[::1]:0", TOLLGATE_GRPC: "0.0.0.0:9000" },
      want: { http: { host: "::1", port: 0 }, grpc: { host: "0.0.0.0", port: 9000 } },
    },
    { name: "gRPC off", env: { TOLLGATE_GRPC: "off" }, want: { grpc: undefined } },
    { name: "HTTP off", env: { TOLLGATE_HTTP: "off" }, want: { http: undefined } },
    {
      name: "a front end offers no gRPC of its own",
      env: { TOLLGATE_CORE: "core.internal:8081" },
      want: { core: "core.internal:8081", grpc: undefined },
    },
    {
      name: "a core behind TLS",
      env: { TOLLGATE_CORE: "grpcs://core.internal:8081", TOLLGATE_CORE_CA: "/etc/ca.pem" },
      want: {
        core: "core.internal:8081",
        coreTls: { ca: "/etc/ca.pem", cert: undefined, key: undefined },
        grpc: undefined,
      },
    },
    { name: "no address for the operator", env: { TOLLGATE_ADMIN: "off" }, want: { admin: undefined } },
    {
      name: "proxies, alone and as blocks",
      env: { TOLLGATE_TRUSTED_PROXIES: "10.0.0.0/8, 192.168.1.7,2001:db8::/32" },
      want: { trustedProxies: ["10.0.0.0/8", "192.168.1.7/32", "2001:db8::/32"] },
    },
    {
      name: "pages of other origins",
      env: { TOLLGATE_CORS_ORIGINS: "https://app.example.com, http://localhost:5173" },
      want: { corsOrigins: ["https://app.example.com", "http://localhost:5173"] },
    },
    {
      name: "where people reach it",
      env: { TOLLGATE_PUBLIC_URL: "https://llm.example.com/" },
      want: { publicUrl: "https://llm.example.com" },
    },
    { name: "pages of any origin", env: { TOLLGATE_CORS_ORIGINS: "*" }, want: { corsOrigins: ["*"] } },
    { name: "no load shedding", env: { TOLLGATE_LOAD_SHEDDING: "off" }, want: { shedsLoad: false } },
    { name: "reflection", env: { TOLLGATE_GRPC_REFLECTION: "on" }, want: { grpcReflection: true } },
    {
      name: "certificates",
      env: { TOLLGATE_TLS_CERT: "/c.pem", TOLLGATE_TLS_KEY: "/k.pem", TOLLGATE_TLS_CLIENT_CA: "/a.pem" },
      want: { tls: { cert: "/c.pem", key: "/k.pem", ca: "/a.pem" } },
    },
    {
      name: "a wait before the ports close, and room for bodies",
      env: { TOLLGATE_LAME_DUCK_MS: "0", TOLLGATE_BODY_MEMORY_MIB: "64" },
      want: { lameDuckMs: 0, bodyMemoryBytes: 64 * 1024 * 1024 },
    },
    {
      name: "a second factor for operators",
      env: { TOLLGATE_SECOND_FACTOR: "operators" },
      want: { secondFactorFor: "operators" },
    },
    { name: "no console", env: { TOLLGATE_CONSOLE: "off" }, want: { console: false } },
    { name: "a witness elsewhere", env: { TOLLGATE_WITNESS: "/mnt/w.json" }, want: { witnessPath: "/mnt/w.json" } },
    { name: "an absolute data directory", env: { TOLLGATE_DATA: "/srv/x" }, want: { dataDirectory: "/srv/x" } },
    { name: "a log level", env: { TOLLGATE_LOG_LEVEL: "debug" }, want: { logLevel: "debug" } },
    {
      name: "secrets",
      env: { TOLLGATE_SECRET: "x".repeat(32), TOLLGATE_OPERATOR_KEY: "sk-0123456789abcdef" },
      want: { secret: "x".repeat(32), operatorKey: "sk-0123456789abcdef" },
    },
    {
      name: "a mistyped variable is warned of",
      env: { TOLLGATE_HTPT: "1", TOLLGATE_KEY: "sk-x", OTHER: "y" },
      want: { warnings: ['TOLLGATE_HTPT is not a variable that Tollgate reads; did you mean "TOLLGATE_HTTP"?'] },
    },
    {
      name: "a variable without effect is warned of",
      env: { TOLLGATE_CORE: "a:1", TOLLGATE_GRPC: "b:2" },
      want: { core: "a:1", grpc: undefined, warnings: ["TOLLGATE_GRPC has no effect where TOLLGATE_CORE is set"] },
    },
  ])("$name", ({ env, want }) => {
    expect(readEnvironment(env, directory)).toEqual({ ...DEFAULTS, ...want });
  });

  test("takes tollgate.yaml where it is present, and any file that is named", () => {
    const home = mkdtempSync(join(directory, "home-"));
    writeFileSync(join(home, "other.yaml"), "");
    expect(readEnvironment({}, home).settingsPath).toBeUndefined();
    expect(readEnvironment({ TOLLGATE_CONFIG: "other.yaml" }, home).settingsPath).toBe(join(home, "other.yaml"));
    writeFileSync(join(home, "tollgate.yaml"), "");
    expect(readEnvironment({}, home).settingsPath).toBe(join(home, "tollgate.yaml"));
  });
});

const LISTEN = 'must be "off" or host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080';

const PROXIES = "must be addresses or CIDR blocks with commas between, such as 10.0.0.0/8,192.168.1.7";
const ORIGINS = "must be * or origins with commas between, such as https://app.example.com,http://localhost:5173";
const CORES = "10.0.0.5:8081 or grpcs://core.internal:8081";

describe("a bad environment stops the start with one line", () => {
  test.each([
    { env: { TOLLGATE_HTTP: "8080" }, line: `TOLLGATE_HTTP="8080" ${LISTEN}` },
    { env: { TOLLGATE_HTTP: ":8080" }, line: `TOLLGATE_HTTP=":8080" ${LISTEN}` },
    { env: { TOLLGATE_HTTP: "localhost:65536" }, line: `TOLLGATE_HTTP="localhost:65536" ${LISTEN}` },
    { env: { TOLLGATE_HTTP: "300.1.1.1:80" }, line: `TOLLGATE_HTTP="300.1.1.1:80" ${LISTEN}` },
    { env: { TOLLGATE_GRPC: "::1:8080" }, line: `TOLLGATE_GRPC="::1:8080" ${LISTEN}` },
    { env: { TOLLGATE_GRPC: "http://a:1\nb" }, line: `TOLLGATE_GRPC="http://a:1\\nb" ${LISTEN}` },
    { env: { TOLLGATE_HTTP: "off", TOLLGATE_GRPC: "off" }, line: 'TOLLGATE_HTTP="off" turns off the only listener' },
    { env: { TOLLGATE_HTTP: "off", TOLLGATE_CORE: "a:1" }, line: 'TOLLGATE_HTTP="off" turns off the only listener' },
    {
      env: { TOLLGATE_TRUSTED_PROXIES: "10.0.0.0/33" },
      line: `TOLLGATE_TRUSTED_PROXIES="10.0.0.0/33" ${PROXIES}`,
    },
    ...[
      "https://app.example.com/",
      "app.example.com",
      "https://*.example.com/x",
      "HTTPS://app.example.com",
      "null",
    ].map((origin) => ({
      env: { TOLLGATE_CORS_ORIGINS: origin },
      line: `TOLLGATE_CORS_ORIGINS="${origin}" ${ORIGINS}`,
    })),
    { env: { TOLLGATE_TLS_CERT: "/c.pem" }, line: "TOLLGATE_TLS_CERT needs TOLLGATE_TLS_KEY beside it" },
    { env: { TOLLGATE_TLS_CLIENT_CA: "/a.pem" }, line: "TOLLGATE_TLS_CLIENT_CA needs TOLLGATE_TLS_CERT beside it" },
    {
      env: { TOLLGATE_LEASE_MAX_USD: "0" },
      line: 'TOLLGATE_LEASE_MAX_USD="0" must be USD from 0.01 to 1000000, such as 10 or 2.50',
    },
    {
      env: { TOLLGATE_LAME_DUCK_MS: "5s" },
      line: 'TOLLGATE_LAME_DUCK_MS="5s" must be a whole number of milliseconds from 0 to 600000',
    },
    {
      env: { TOLLGATE_BODY_MEMORY_MIB: "1" },
      line: 'TOLLGATE_BODY_MEMORY_MIB="1" must be a whole number of MiB from 64 to 65536',
    },
    { env: { TOLLGATE_CONFIG: "no.yaml" }, line: 'TOLLGATE_CONFIG="no.yaml" must be a settings file that exists' },
    {
      env: { TOLLGATE_CORE: "core:0" },
      line: `TOLLGATE_CORE="core:0" must be the host:port of a core's gRPC address, such as ${CORES}`,
    },
    {
      env: { TOLLGATE_LOG_LEVEL: "loud" },
      line: 'TOLLGATE_LOG_LEVEL="loud" must be one of trace, debug, info, warn, error, silent',
    },
    {
      env: { TOLLGATE_SECRET: "hunter2" },
      line: "TOLLGATE_SECRET must be at least 32 characters of your own random text",
    },
    {
      env: { TOLLGATE_SECRET_PREVIOUS: "hunter2" },
      line: "TOLLGATE_SECRET_PREVIOUS must be at least 32 characters of your own random text",
    },
    {
      env: { TOLLGATE_SECRET_PREVIOUS: "p".repeat(32), TOLLGATE_SECRET_NEXT: "n".repeat(32) },
      line: "TOLLGATE_SECRET_NEXT and TOLLGATE_SECRET_PREVIOUS are steps of one rotation: set one",
    },
    {
      env: { TOLLGATE_OPERATOR_KEY: "hunter2" },
      line: "TOLLGATE_OPERATOR_KEY must be sk- and at least 16 more characters",
    },
    {
      env: { TOLLGATE_DATABASE_URL: "mysql://u:hunter2@h/d" },
      line: `TOLLGATE_DATABASE_URL ${DATABASE_RULE}`,
    },
    {
      env: { TOLLGATE_DATABASE_URL: "postgres://u:hunter2@h/d?sslmode=wrong" },
      line: `TOLLGATE_DATABASE_URL ${DATABASE_RULE}`,
    },
    {
      env: { TOLLGATE_DATABASE_URL: "postgres://u:hunter2@h/d" },
      line: "TOLLGATE_DATABASE_URL needs TOLLGATE_SECRET beside it, the same on every node",
    },
    {
      env: { TOLLGATE_REDIS_URL: "http://:hunter2@h" },
      line: `TOLLGATE_REDIS_URL ${REDIS_RULE}`,
    },
  ])("$line", ({ env, line }) => {
    const error = refusalOf(() => readEnvironment(env, directory));
    expect(error.message).toBe(line);
    expect(error.message).not.toMatch(/hunter2|\n/);
  });
});

test.each(["127.0.0.1:8080", "[::1]:0", "[2001:db8::7]:65535", "a-b.example:1"])("%s reads and writes back", (text) => {
  const address = parseAddress(text);
  expect(address && formatAddress(address)).toBe(text);
});

function refusalOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
