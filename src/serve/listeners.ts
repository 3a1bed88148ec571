/** The ports of a process: HTTP and gRPC with their certificates, and the operator's own. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ByteBudget } from "../base/bytes/byte-budget.js";
import type { Channel } from "../api/channel.js";
import type { OpenConnections } from "../base/event-loop/listening-port.js";
import { listeningClock } from "../base/event-loop/listening-clock.js";
import type { RequestQueue } from "../base/event-loop/request-queue.js";
import { type Address, formatAddress } from "../config/listen-address.js";
import type { Environment } from "../config/environment.js";
import { readTlsFiles, type TlsFiles, type TlsPaths, watchTlsFiles } from "../config/tls.js";
import { anthropic } from "../formats/anthropic.js";
import { gemini } from "../formats/gemini.js";
import { openai } from "../formats/openai.js";
import { openaiCompaction } from "../formats/openai-compaction.js";
import { openaiCompletions } from "../formats/openai-completions.js";
import { openaiResponses } from "../formats/openai-responses.js";
import { createHttpServer } from "../http/server.js";
import { createOutlines } from "../reading/outlines.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import { PACKAGE_ROOT } from "../base/package-root.js";
import { createGrpcServer } from "../rpc/transport/server.js";
import { listenAdmin } from "./admin.js";
import { machineMs } from "./clock.js";
import { type Core, proxiesOf } from "./core.js";
import { recordFrontRefusal } from "./front-refusals.js";
import { createQueue } from "./overload.js";
import { RefusalReports } from "./refusal-reports.js";
import { requestIdsBy } from "./request-id.js";

const STREAMS_MAX = 10_000;
/** How long a connection that was accepted as the ports closed has to send its request, and how long to end it. */
const LATE_MS = 500;
const LATE_END_MS = 15_000;
const LATE_LOOK_MS = 10;
const CONSOLE_DIRECTORY = fileURLToPath(new URL("dist/console", PACKAGE_ROOT));

export interface ListenersOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly channel: Channel;
  /** Absent in a front end. */
  readonly core: Core | undefined;
  /** By which a front end shows the core that it is ours. */
  readonly frontToken: string | undefined;
  readonly ready: () => Promise<boolean>;
}

/** One port. */
interface Port {
  readonly address: string;
  setCertificate?(files: TlsFiles): void;
  /** Ends connections with what they carry, where that can be said. */
  leave?(): void;
  /** Accepts connections, and serves them once the port is closed; says how many those are. */
  holdPort?(): () => number;
  /** Accepts what waits, and no more after that. */
  closePort?(): Promise<OpenConnections>;
  /** What comes over HTTP is served by the core, which gRPC's port ends behind that. */
  drain(timeoutMs: number, otherEdge?: Promise<void>): Promise<void>;
}

export class Listeners {
  readonly #options: ListenersOptions;
  readonly #bodies: ByteBudget;
  /** Of both ports. Undefined where requests begin at once, however many come. */
  readonly #queue: RequestQueue | undefined;
  readonly #ports: { http?: Port; grpc?: Port; admin?: Port } = {};
  #notServing: (() => void) | undefined;
  #watch: { close(): void } | undefined;
  /** Tells a core elsewhere; undefined where the core is here, or does not know us. */
  readonly #reports: RefusalReports | undefined;
  #stopping = false;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#bodies = new ByteBudget(options.environment.bodyMemoryBytes);
    this.#queue = createQueue(options);
    const { channel, core, frontToken, metrics } = options;
    const onLost = (count: number): void => metrics.recordsDropped.inc({ cause: "untold" }, count);
    if (core === undefined && frontToken !== undefined)
      this.#reports = new RefusalReports({ channel, frontToken, onLost });
  }

  /** Where each listens; undefined for what is off. */
  get addresses(): { http: string | undefined; grpc: string | undefined; admin: string | undefined } {
    const { http, grpc, admin } = this.#ports;
    return { http: http?.address, grpc: grpc?.address, admin: admin?.address };
  }

  /** Rejects where a certificate is wrong or an address is taken. */
  async open(): Promise<void> {
    const { http, grpc, admin, tls } = this.#options.environment;
    const files = tls === undefined ? undefined : readTlsFiles(tls);
    if (admin !== undefined) this.#ports.admin = await this.#openAdmin(admin);
    if (grpc !== undefined && this.#options.core !== undefined)
      this.#ports.grpc = await this.#openGrpc(grpc, this.#options.core, files);
    if (http !== undefined) this.#ports.http = await this.#openHttp(http, files);
    if (tls !== undefined && files !== undefined) this.#watch = this.#watchCertificates(tls, files);
  }

  /** Says that it is not ready, and goes on serving. */
  announceStop(): void {
    this.#stopping = true;
    this.#notServing?.();
    this.#ports.http?.leave?.();
  }

  /** Accepts connections, and serves them once the ports are closed; says how many those are. */
  holdPorts(): () => number {
    const { http, grpc } = this.#ports;
    const held = [http, grpc].map((port) => port?.holdPort?.());
    return () => held.reduce((sum, count) => sum + (count?.() ?? 0), 0);
  }

  async drain(timeoutMs: number): Promise<void> {
    this.announceStop();
    this.#watch?.close();
    const { http, grpc, admin } = this.#ports;
    const startMs = performance.now();
    await serveLate(await Promise.all([http?.closePort?.(), grpc?.closePort?.()]), timeoutMs);
    // The units and manifests in deploy/ kill a process that takes much longer than this to stop.
    const leftMs = Math.max(0, timeoutMs - (performance.now() - startMs));
    const ofHttp = http?.drain(leftMs);
    await Promise.all([ofHttp, grpc?.drain(leftMs, ofHttp)]);
    await this.#reports?.close();
    await admin?.drain(0);
  }

  async #openHttp(address: Address, files: TlsFiles | undefined): Promise<Port> {
    const { channel, core, environment, frontToken, log, metrics, ready } = this.#options;
    const proxies = proxiesOf(environment);
    const outlines = createOutlines();
    const requestIds = core?.requestIds ?? requestIdsBy(machineMs);
    const server = await createHttpServer({
      channel,
      formats: [openai, openaiResponses, openaiCompaction, openaiCompletions, anthropic, gemini],
      requestIds: () => `req_${requestIds()}`,
      log,
      metrics: {
        observe: ({ route, status, durationMs }) => {
          metrics.httpRequests.add(route, String(status));
          metrics.httpSeconds.note(durationMs / 1000, route);
        },
      },
      ready: () => !this.#stopping && ready(),
      frontToken,
      timeMs: machineMs,
      bodies: this.#bodies,
      queue: this.#queue,
      clientAddressOf: proxies && ((peer, forwardedFor) => proxies.clientOf(peer, forwardedFor)),
      isProxy: proxies && ((peer) => proxies.has(peer)),
      prepareLong: core === undefined ? outlines.prepare : undefined,
      findNames: outlines.names,
      tls: files && { cert: files.cert, key: files.key },
      streamsMax: STREAMS_MAX,
      onRefused: (refusal) => {
        if (core === undefined) this.#reports?.add(refusal);
        else recordFrontRefusal(refusal, core.dispatcher);
      },
      corsOrigins: environment.corsOrigins,
      consoleDirectory: environment.console ? CONSOLE_DIRECTORY : undefined,
    });
    const { port } = await server.listen(address.host, address.port);
    return {
      address: formatAddress({ ...address, port }),
      setCertificate: ({ cert, key }) => server.setCertificate({ cert, key }),
      leave: () => server.leave(),
      holdPort: () => server.holdPort(),
      closePort: () => server.closePort(),
      drain: async (timeoutMs) => {
        await server.drain(timeoutMs);
        await outlines.close();
      },
    };
  }

  async #openGrpc(address: Address, { dispatcher }: Core, files: TlsFiles | undefined): Promise<Port> {
    const { environment, log } = this.#options;
    const proxies = proxiesOf(environment);
    const connections = { tls: files, isProxy: proxies && ((peer: string) => proxies.has(peer)) };
    const server = createGrpcServer({
      dispatcher,
      log,
      connections,
      bodies: this.#bodies,
      queue: this.#queue,
      reflection: environment.grpcReflection,
    });
    const { port } = await server.listen(formatAddress(address));
    return {
      address: formatAddress({ ...address, port }),
      setCertificate: (changed) => server.setCertificate(changed),
      holdPort: () => server.holdPort(),
      closePort: () => server.closePort(),
      drain: (timeoutMs, otherEdge) => server.drain(timeoutMs, otherEdge),
    };
  }

  async #openAdmin(address: Address): Promise<Port> {
    const { metrics, ready } = this.#options;
    const parts = { ready, isDraining: () => this.#stopping, metricsText: () => metrics.text() };
    const admin = await listenAdmin(address, parts);
    this.#notServing = () => admin.notServing();
    return { address: formatAddress({ ...address, port: admin.port }), drain: () => admin.close() };
  }

  #watchCertificates(paths: TlsPaths, inUse: TlsFiles): { close(): void } {
    const { log } = this.#options;
    const use = (files: TlsFiles): void => {
      this.#ports.http?.setCertificate?.(files);
      this.#ports.grpc?.setCertificate?.(files);
      log.info({ cert: paths.cert }, "the certificate was reloaded");
    };
    return watchTlsFiles({ paths, inUse }, use, (err) =>
      log.error({ err, cert: paths.cert }, "the changed certificate is refused; the old one stays in use"),
    );
  }
}

/**
 * Serves what was on its way as the ports closed. A proxy that sent a request over a connection that we accepted
 * repeats it for nobody: refused here, it fails for the client.
 */
async function serveLate(ports: readonly (OpenConnections | undefined)[], timeoutMs: number): Promise<void> {
  const startMs = listeningClock.nowMs();
  const isLate = (port: OpenConnections | undefined): boolean => {
    if (port === undefined) return false;
    const waitedMs = listeningClock.nowMs() - startMs;
    return waitedMs < LATE_MS ? port.size > 0 : port.receiving > 0 && waitedMs < Math.min(timeoutMs, LATE_END_MS);
  };
  while (ports.some(isLate)) await sleep(LATE_LOOK_MS);
}
