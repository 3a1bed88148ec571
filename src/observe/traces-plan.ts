/** What OpenTelemetry's variables ask for: whether there are traces at all, and where they go. */

export interface TracesPlan {
  readonly exporter: "otlp" | "console";
  readonly protocol: "http/protobuf" | "http/json";
}

type Variables = Readonly<Record<string, string | undefined>>;

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
/** Each of them names where traces go. */
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

/**
 * Undefined where nothing asks for traces: then nothing of OpenTelemetry is loaded. Throws an Error of one line where
 * they are asked for in a way that is not known.
 */
export function readTracesPlan(variables: Variables): TracesPlan | undefined {
  const value = (name: string): string => (variables[name] ?? "").trim();
  if (value("OTEL_SDK_DISABLED").toLowerCase() === "true") return undefined;
  const exporter = value("OTEL_TRACES_EXPORTER");
  const isNamed = ENDPOINTS.some((name) => value(name) !== "");
  if (exporter === "none" || (exporter === "" && !isNamed)) return undefined;
  if (exporter !== "" && exporter !== "otlp" && exporter !== "console")
    throw new Error(`OTEL_TRACES_EXPORTER must be otlp, console or none, not ${JSON.stringify(exporter)}`);
  const asked = value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") || value("OTEL_EXPORTER_OTLP_PROTOCOL") || PROTOCOLS[0];
  const protocol = PROTOCOLS.find((known) => known === asked);
  if (protocol === undefined)
    throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL must be ${PROTOCOLS.join(" or ")}, not ${JSON.stringify(asked)}`);
  return { exporter: exporter === "console" ? "console" : "otlp", protocol };
}
