/** Traces, where the environment asks for them: only then is OpenTelemetry loaded. */
import { ConfigError } from "../config/config-error.js";
import type { TracingOptions } from "../observe/opentelemetry.js";
import { readTracesPlan, type TracesPlan } from "../observe/traces-plan.js";
import type { Tracing } from "../observe/tracing.js";

/** Undefined where nothing is to be traced. Rejects with a ConfigError where a variable is wrong. */
export async function openTracing(
  environment: NodeJS.ProcessEnv,
  options: Omit<TracingOptions, "plan">,
): Promise<Tracing | undefined> {
  const plan = planOf(environment);
  if (plan === undefined) return undefined;
  const { startTracing } = await import("../observe/opentelemetry.js");
  return startTracing({ ...options, plan });
}

function planOf(environment: NodeJS.ProcessEnv): TracesPlan | undefined {
  try {
    return readTracesPlan(environment);
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}
