/**
 * Traces by OpenTelemetry, set by its own variables of the environment. Loaded only where those ask for traces:
 * docs/decisions/0438-metrics-traces-and-exports.md.
 */
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { defined } from "../base/defined.js";
import type { TracesPlan } from "./traces-plan.js";
import type { Log } from "./log.js";
import { parentOf, traceHeaders } from "./traceparent.js";
import type { AttemptTrace, RequestTrace, TraceAttributes, Tracing } from "./tracing.js";

export interface TracingOptions {
  readonly plan: TracesPlan;
  /** The version of the program. */
  readonly version: string;
  readonly instanceId: string;
  readonly log: Pick<Log, "warn">;
}

/** How long the end of the process waits for what is left. */
const CLOSE_MS = 5_000;
/** What goes wrong between here and whoever takes the traces is told at most this often. */
const TROUBLE_EVERY_MS = 60_000;
const SERVER_ERRORS = 500;

export async function startTracing({ plan, version, instanceId, log }: TracingOptions): Promise<Tracing> {
  tellTroubles(log);
  const own = resourceFromAttributes({
    "service.name": "tollgate",
    "service.version": version,
    "service.instance.id": instanceId,
  });
  const tracers = new BasicTracerProvider({
    // What the environment says of itself wins.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await exporterOf(plan))],
  });
  const tracer = tracers.getTracer("tollgate", version);
  return {
    begin: (name, metadata) => beginRequest(tracer, name, metadata),
    close: () => closed(tracers, log),
  };
}

async function exporterOf({ exporter, protocol }: TracesPlan): Promise<SpanExporter> {
  if (exporter === "console") return new ConsoleSpanExporter();
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  // Address, headers, certificates, compression and timeout are read from the environment.
  return new OTLPTraceExporter();
}

async function closed(tracers: BasicTracerProvider, log: Pick<Log, "warn">): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the trace collector does not answer")), CLOSE_MS).unref();
  });
  try {
    await Promise.race([tracers.shutdown(), late]);
  } catch (err) {
    log.warn({ err }, "the last traces could not be sent");
  } finally {
    clearTimeout(timer);
  }
}

function tellTroubles(log: Pick<Log, "warn">): void {
  let toldMs = -Infinity;
  const tell = (problem: string): void => {
    const nowMs = performance.now();
    if (nowMs - toldMs < TROUBLE_EVERY_MS) return;
    toldMs = nowMs;
    log.warn({ problem }, "traces cannot be sent as they should");
  };
  const silent = (): void => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

function beginRequest(tracer: Tracer, name: string, metadata: Readonly<Record<string, string>>): RequestTrace {
  return new OpenTelemetryRequest(tracer, tracer.startSpan(name, { kind: SpanKind.SERVER }, parentOf(metadata)));
}

class OpenTelemetryRequest implements RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly isKept: boolean;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
  ) {
    const { traceId, spanId } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.isKept = span.isRecording();
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  setAttributes(attributes: TraceAttributes): void {
    if (this.isKept) this.span.setAttributes(defined(attributes));
  }

  event(name: string, attributes: TraceAttributes): void {
    if (this.isKept) this.span.addEvent(name, defined(attributes));
  }

  beginAttempt(name: string, attributes: TraceAttributes): AttemptTrace {
    // Of what nobody keeps the request's own ids go on, so that the upstream keeps nothing either.
    if (!this.isKept) return { headers: traceHeaders(this.span), end: () => undefined };
    const parent = trace.setSpan(ROOT_CONTEXT, this.span);
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: defined(attributes) }, parent);
    return {
      headers: traceHeaders(span),
      end: (more, errorType) => {
        span.setAttributes(defined(more));
        fail(span, errorType, true);
        span.end();
      },
    };
  }

  end(error?: { readonly reasonWord: string; readonly http: number }): void {
    // A refusal of what a caller did wrong is no failure of ours.
    if (this.isKept) fail(this.span, error?.reasonWord, (error?.http ?? 0) >= SERVER_ERRORS);
    this.span.end();
  }
}

function fail(span: Span, errorType: string | undefined, isFailure: boolean): void {
  if (errorType === undefined) return;
  span.setAttribute("error.type", errorType);
  if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
}
