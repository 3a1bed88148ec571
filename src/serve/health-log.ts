/** Tells operators what becomes of their upstreams: one line for each change, and a count. */
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import type { EjectionCause, EjectionChange } from "../routing/ejection.js";

/** A change that goes to and fro has a line at most this often. */
const AGAIN_MS = 60_000;
const TOLD_MAX = 10_000;

/** What to do about it; undefined where it mends itself. */
const ADVICE: Readonly<Record<EjectionCause, string | undefined>> = {
  failing: undefined,
  rate_limited: undefined,
  credential: "the upstream refuses our credential: check its api_key in the settings",
  no_funds: "our account at the upstream has no funds: add some there",
  access: "our account at the upstream may not use the model: ask for access there, or take the target out",
  model_unknown: "the upstream does not have the model: correct the target's model in the settings",
};

export class HealthLog {
  /** When a line was last written, by what it was about. */
  readonly #toldMs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly metrics: Pick<Metrics, "setAside">,
    private readonly nowMs: () => number,
  ) {}

  note(upstream: string, model: string | undefined, change: EjectionChange): void {
    const { cause, isAside, durationMs, accountId } = change;
    if (isAside) this.metrics.setAside.add(upstream, cause);
    // A limit of the upstream's is reached all the time; its count is enough.
    if (cause === "rate_limited" || !this.#mayTell(`${upstream} ${model ?? ""} ${cause} ${isAside}`)) return;
    const about = { upstream, ...(model === undefined ? {} : { upstream_model: model }), cause };
    if (!isAside) return this.log.info(about, "an upstream is back in use");
    const facts = { ...about, cooling_ms: durationMs, account: accountId ?? "all" };
    const advice = ADVICE[cause];
    if (advice !== undefined) this.log.error(facts, advice);
    else this.log.warn(facts, "an upstream fails and is set aside");
  }

  #mayTell(about: string): boolean {
    const nowMs = this.nowMs();
    const lastMs = this.#toldMs.get(about);
    if (lastMs !== undefined && nowMs - lastMs < AGAIN_MS) return false;
    if (this.#toldMs.size >= TOLD_MAX) this.#toldMs.clear();
    this.#toldMs.set(about, nowMs);
    return true;
  }
}
