/** W3C Trace Context: the headers `traceparent` and `tracestate`, read from a request and written to an upstream. */
import { type Context, ROOT_CONTEXT, type Span, type TextMapGetter, TraceFlags } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

const propagator = new W3CTraceContextPropagator();
const fromMetadata: TextMapGetter<Readonly<Record<string, string>>> = {
  keys: (metadata) => Object.keys(metadata),
  get: (metadata, name) => metadata[name],
};

/** The trace that a request continues, or the root. */
export function parentOf(metadata: Readonly<Record<string, string>>): Context {
  return metadata["traceparent"] === undefined
    ? ROOT_CONTEXT
    : propagator.extract(ROOT_CONTEXT, metadata, fromMetadata);
}

/** The headers that continue a span. */
export function traceHeaders(span: Span): Readonly<Record<string, string>> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01";
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const tracestate = traceState?.serialize() ?? "";
  return tracestate === "" ? { traceparent } : { traceparent, tracestate };
}
