/** The only place where the parts meet: reads the settings, builds, serves and drains. */
import { type Address, formatAddress } from "./config/address.js";
import { type Environment, readEnvironment } from "./config/environment.js";
import { deriveKey } from "./config/secret.js";
import type { Channel } from "./api/channel.js";
import { failpointsAreOn } from "./failpoint.js";
import { anthropic } from "./formats/anthropic.js";
import { gemini } from "./formats/gemini.js";
import { openai } from "./formats/openai.js";
import { openaiCompletions } from "./formats/openai-completions.js";
import { openaiResponses } from "./formats/openai-responses.js";
import { createHttpServer, type HttpServer } from "./http/server.js";
import { createLog, type Log } from "./observe/log.js";
import { Metrics } from "./observe/metrics.js";
import { createInProcessChannel } from "./rpc/in-process-channel.js";
import { createRemoteChannel } from "./rpc/remote-channel.js";
import { createGrpcServer, type GrpcServer } from "./rpc/server.js";
import { type Core, startCore } from "./serve/core.js";
import { protectEnvironment } from "./serve/secrets.js";
import { makeRequestId } from "./serve/request-id.js";
import { printWelcome } from "./serve/welcome.js";

const DRAIN_MS = 120_000;
const STREAMS_MAX = 10_000;

export interface ServeOptions {
  /** Makes a client key with credit at the first start, and prints how to use it. */
  readonly demo: boolean;
  /** Called once when requests are served. */
  readonly onReady: () => void;
}

/** Serves until the process is told to stop. Rejects with an Error of one line where the start fails. */
export async function serve(options: ServeOptions): Promise<void> {
  protectEnvironment(process.env);
  const environment = readEnvironment(process.env);
  const log = createLog(environment.logLevel);
  for (const warning of environment.warnings) log.warn({ warning }, "environment");
  if (failpointsAreOn())
    log.warn({ failpoints: process.env["TOLLGATE_FAILPOINTS"] }, "failpoints are on: only for tests");
  const metrics = new Metrics();
  const onFatal = (error: Error): void => {
    // The disk failed under the ledger: nothing in memory can be trusted to be durable. Recovery is from the log.
    log.error({ err: error }, "the ledger's disk failed; the process ends");
    log.flush();
    process.exit(70);
  };
  const core =
    environment.core === undefined
      ? await startCore({ environment, log, metrics, demo: options.demo, onFatal })
      : undefined;
  const channel = core === undefined ? connect(environment) : createInProcessChannel(core.dispatcher);
  const state = { draining: false };
  const servers: { drain(timeoutMs: number): Promise<void> }[] = [];
  try {
    const grpc = core === undefined ? undefined : await listenGrpc(core, environment.grpc, log);
    if (grpc !== undefined) servers.push(grpc.server);
    const http = await listenHttp(channel, core, environment, { log, metrics, state });
    if (http !== undefined) servers.push(http.server);
    log.info({ http: http?.address, grpc: grpc?.address, pid: process.pid }, "ready");
    log.flush();
    options.onReady();
    if (core !== undefined) printWelcome(http?.address, core.shown);
    await stopSignal();
  } catch (error) {
    // Keys that were made at this start exist now, so they are shown although it fails.
    if (core !== undefined) printWelcome(undefined, core.shown);
    await stop(0);
    throw error;
  }
  log.info({}, "stopping");
  await stop(DRAIN_MS);
  log.info({}, "stopped");
  log.flush();

  async function stop(drainMs: number): Promise<void> {
    state.draining = true;
    await Promise.all(servers.map((server) => server.drain(drainMs)));
    await channel.close();
    await core?.close();
  }
}

function connect(environment: Environment): Channel {
  const { core, secret } = environment;
  // With the core's own secret calls share tunnels; without it each goes by itself.
  return createRemoteChannel({ address: core ?? "", frontToken: secret && frontTokenOf(secret) });
}

async function listenGrpc(
  core: Core,
  address: Address | undefined,
  log: Log,
): Promise<{ server: GrpcServer; address: string } | undefined> {
  if (address === undefined) return undefined;
  const server = createGrpcServer({ dispatcher: core.dispatcher, log });
  const { port } = await server.listen(formatAddress(address));
  return { server, address: formatAddress({ ...address, port }) };
}

async function listenHttp(
  channel: Channel,
  core: Core | undefined,
  environment: Environment,
  parts: { log: Log; metrics: Metrics; state: { readonly draining: boolean } },
): Promise<{ server: HttpServer; address: string } | undefined> {
  const { log, metrics, state } = parts;
  if (environment.http === undefined) return undefined;
  const secret = environment.secret;
  const server = await createHttpServer({
    channel,
    formats: [openai, openaiResponses, openaiCompletions, anthropic, gemini],
    requestIds: () => `req_${makeRequestId()}`,
    log,
    metrics: {
      observe: ({ route, status, durationMs }) => {
        metrics.httpRequests.add(route, String(status));
        metrics.httpSeconds.note(route, durationMs / 1000);
      },
    },
    metricsText: () => metrics.text(),
    ready: () => !state.draining && (core === undefined || core.ready()),
    frontToken: core?.frontToken ?? (secret === undefined ? undefined : frontTokenOf(secret)),
    streamsMax: STREAMS_MAX,
  });
  const { host, port } = environment.http;
  const bound = await server.listen(host, port);
  return { server, address: formatAddress({ host, port: bound.port }) };
}

function frontTokenOf(secret: string): string {
  return deriveKey(Buffer.from(secret), "front token").toString("hex");
}

function stopSignal(): Promise<void> {
  return new Promise((done) => {
    process.once("SIGTERM", () => done());
    process.once("SIGINT", () => done());
  });
}
