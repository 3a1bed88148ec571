/** What the program tells of a request where it is traced. Nothing here loads OpenTelemetry. */

/** Names and values as OpenTelemetry takes them; undefined is left out. */
export type TraceAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** One try of an upstream, as its trace sees it. */
export interface AttemptTrace {
  /** What tells the upstream which trace its work belongs to. */
  readonly headers: Readonly<Record<string, string>>;
  /** `errorType` is absent where it went well. */
  end(attributes: TraceAttributes, errorType?: string): void;
}

/** One request, as its trace sees it: a span of its own, with the attempts below it. */
export interface RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** False where the sampler left it out: nothing of it is kept, and only its ids travel on. */
  readonly isKept: boolean;
  /** The name of what it is, once that is known. */
  rename(name: string): void;
  setAttributes(attributes: TraceAttributes): void;
  event(name: string, attributes: TraceAttributes): void;
  beginAttempt(name: string, attributes: TraceAttributes): AttemptTrace;
  /** Once. `error` is absent where the request ended well. */
  end(error?: { readonly reasonWord: string; readonly http: number }): void;
}

export interface Tracing {
  /** A request comes; its headers may name the trace that it belongs to. */
  begin(name: string, metadata: Readonly<Record<string, string>>): RequestTrace;
  /** Sends what is left, within bounds. Never rejects. */
  close(): Promise<void>;
}
