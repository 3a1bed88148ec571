/** The only place where the parts meet: reads the settings, builds, serves and drains. */
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import type { Channel } from "./api/channel.js";
import { Cancellation } from "./base/cancellation.js";
import { KeyServiceService } from "./api/index.js";
import { type Environment, readEnvironment } from "./config/environment.js";
import { deriveKey } from "./config/secret.js";
import { readTlsFiles, type TlsFiles, type TlsPaths, watchTlsFiles } from "./config/tls.js";
import { GatewayError } from "./base/errors.js";
import { failpointsAreOn } from "./base/failpoint.js";
import { createLog, type Log } from "./observe/log.js";
import { Metrics } from "./observe/metrics.js";
import { createInProcessChannel } from "./rpc/transport/in-process-channel.js";
import { createRemoteChannel } from "./rpc/transport/remote-channel.js";
import { startCore } from "./serve/core.js";
import { DescriptorWatch } from "./serve/descriptor-watch.js";
import { Listeners } from "./serve/listeners.js";
import { protectEnvironment } from "./serve/secrets.js";
import { printWelcome } from "./serve/welcome.js";
import { giveBackStartMemory } from "./base/start-memory.js";
import { stopSignal } from "./serve/stop-signal.js";
import { announceServing, leavePorts, leaveWorkers, workerPart } from "./serve/workers.js";

const DRAIN_MS = 120_000;
/** How long a front end's probe waits for its core. */
const PROBE_MS = 2_000;

export interface ServeOptions {
  /** Makes a client key with credit at the first start, and prints how to use it. */
  readonly demo: boolean;
  /** Starts also where the data directory has lost state, and writes that down. */
  readonly acceptLoss: boolean;
  /** Starts by the machine's clock also where the data directory has seen a later time. */
  readonly acceptClock: boolean;
  /** The version of the program. */
  readonly version: string;
}

/** Serves until the process is told to stop. Rejects with an Error of one line where the start fails. */
export async function serve(options: ServeOptions): Promise<void> {
  protectEnvironment(process.env);
  const environment = readEnvironment(process.env);
  const log = createLog(environment.logLevel);
  for (const warning of environment.warnings) log.warn({ warning }, "environment");
  if (failpointsAreOn())
    log.warn({ failpoints: process.env["TOLLGATE_FAILPOINTS"] }, "failpoints are on: only for tests");
  // Unheeded, the signal would end the process and all that runs in it.
  const hangup = { act: (): void => undefined };
  process.on("SIGHUP", () => hangup.act());
  const metrics = new Metrics();
  const onFatal = (error: Error): void => {
    // Nothing in memory can be trusted to be durable, or ever to be. Recovery is from the log.
    log.error({ err: error }, "the ledger's database failed under this process, which ends");
    log.flush();
    process.exit(70);
  };
  const isOwned = workerPart() === "owned";
  const descriptors = new DescriptorWatch(log, () => performance.now());
  descriptors.start();
  const parts = { ...options, environment, log, metrics, descriptors, isOwned, onFatal };
  const core = environment.core === undefined ? await startCore(parts) : undefined;
  const channel = core === undefined ? connect(environment, log) : createInProcessChannel(core.dispatcher);
  const frontToken = core?.frontToken ?? (environment.secret && frontTokenOf(environment.secret));
  const ready = core === undefined ? () => coreAnswers(channel, frontToken) : () => core.ready();
  metrics.node.isReady = ready;
  const listeners = new Listeners({ environment, log, metrics, channel, core, frontToken, ready });
  // Whoever sees that it is ready may tell it to stop at once. Before it listens nothing runs that a signal could end.
  const told = stopSignal();
  try {
    await listeners.open();
    const { addresses } = listeners;
    core?.node.listens(addresses);
    log.info({ ...addresses, pid: process.pid }, "ready");
    log.flush();
    announceServing();
    giveBackStartMemory();
    const base = addresses.http && `${environment.tls === undefined ? "http" : "https"}://${addresses.http}`;
    if (core !== undefined) printWelcome(environment.publicUrl ?? base, core.shown);
    hangup.act = () =>
      void (core === undefined ? log.warn({}, "a front end has no settings to reload") : core.reload());
    await told;
  } catch (error) {
    // Keys that were made at this start exist now, so they are shown although it fails.
    if (core !== undefined) printWelcome(undefined, core.shown);
    await stop(0);
    throw error;
  }
  log.info({ lame_duck_ms: environment.lameDuckMs }, "stopping");
  // Load balancers learn that it is not ready, and send nothing more, before its ports close.
  listeners.announceStop();
  await lameDuck(environment.lameDuckMs);
  await leavePorts(() => listeners.holdPorts());
  await stop(DRAIN_MS);
  log.info({}, "stopped");
  log.flush();

  async function stop(drainMs: number): Promise<void> {
    await listeners.drain(drainMs);
    await channel.close();
    await core?.close();
    leaveWorkers();
  }
}

function connect({ core = "", coreTls, secret }: Environment, log: Log): Channel {
  return createRemoteChannel({
    address: core,
    credentials: coreTls && renewedCredentials(coreTls, log),
    // With the core's own secret calls share tunnels; without it each goes by itself.
    frontToken: secret && frontTokenOf(secret),
  });
}

/** What is shown to the core: read now, and again when the files change, for the connections that are made then. */
function renewedCredentials(paths: TlsPaths, log: Log): () => ChannelCredentials {
  const ofFiles = ({ ca, key, cert }: TlsFiles): ChannelCredentials =>
    credentials.createSsl(ca ?? null, key ?? null, cert ?? null);
  const inUse = readTlsFiles(paths);
  let shown = ofFiles(inUse);
  const use = (files: TlsFiles): void => {
    shown = ofFiles(files);
    log.info({ cert: paths.cert }, "the certificate for the core was reloaded");
  };
  watchTlsFiles({ paths, inUse }, use, (err) =>
    log.error({ err, cert: paths.cert }, "the changed certificate for the core is refused; the old one stays in use"),
  );
  return () => shown;
}

/** True where the core is there: even a refusal for want of a key is an answer. */
async function coreAnswers(channel: Channel, frontToken: string | undefined): Promise<boolean> {
  const metadata: Record<string, string> = frontToken === undefined ? {} : { "x-tollgate-front": frontToken };
  const options = { metadata, signal: new Cancellation(), timeoutMs: PROBE_MS };
  try {
    await channel.unary(KeyServiceService.getCaller, {}, options);
    return true;
  } catch (error) {
    return GatewayError.from(error).http === 401;
  }
}

function frontTokenOf(secret: string): string {
  return deriveKey(Buffer.from(secret), "front token").toString("hex");
}

/** Waits so long, or until told once more to stop. */
async function lameDuck(waitMs: number): Promise<void> {
  if (waitMs === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
  await Promise.race([waited, stopSignal()]);
  clearTimeout(timer);
}
