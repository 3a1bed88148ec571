/** Tells operators what becomes of their upstreams: one line for each change, and a count. */
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import type { UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import type { EjectionCause, EjectionChange } from "../routing/ejection.js";

/** A change that goes to and fro has a line at most this often. */
const AGAIN_MS = 60_000;
const TOLD_MAX = 10_000;

/** What to do about it; undefined where it mends itself. */
const ADVICE: Readonly<Record<EjectionCause, string | undefined>> = {
  failing: undefined,
  rate_limited: undefined,
  credential: "the upstream rejects the gateway's credential: check its api_key in the settings",
  no_funds: "our account at the upstream has no funds: add some there",
  access: "our account at the upstream may not use the model: ask for access there, or take the target out",
  model_unknown: "the upstream does not have the model: correct the target's model in the settings",
};

const REFUSED_AS_OURS =
  "the upstream refused a request as if our credential or account were at fault: where it goes on, look at its credential, its funds and its access";

export class HealthLog {
  /** When a line was last written, by what it was about. */
  readonly #toldMs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly metrics: Pick<Metrics, "ejections" | "refusedAsOurs">,
    private readonly nowMs: () => number,
  ) {}

  note(upstream: string, model: string | undefined, change: EjectionChange): void {
    const { cause, isEjected, durationMs, accountId } = change;
    if (isEjected) this.metrics.ejections.add(upstream, cause);
    // A limit of the upstream's is reached all the time; its count is enough.
    if (cause === "rate_limited" || !this.#mayTell(`${upstream} ${model ?? ""} ${cause} ${isEjected}`)) return;
    const about = { upstream, ...(model === undefined ? {} : { upstream_model: model }), cause };
    if (!isEjected) return this.log.info(about, "an upstream is back in use");
    const facts = { ...about, cooling_ms: durationMs, account: accountId ?? "all" };
    const advice = ADVICE[cause];
    if (advice !== undefined) this.log.error(facts, advice);
    else this.log.warn(facts, "an upstream fails and is ejected");
  }

  /**
   * A refusal that says by its words, or by its status alone, that our credential, our money or our access is at fault.
   * Whoever sends a request can make an upstream say so, so it ejects nothing; the operator decides what it is.
   */
  refusedAsOurs(upstream: string, model: string, refusal: UpstreamRefusal): void {
    this.metrics.refusedAsOurs.add(upstream, model);
    if (!this.#mayTell(`${upstream} ${model} forbidden`)) return;
    const facts = { upstream, upstream_model: model, cause: "forbidden", status: refusal.status };
    this.log.warn({ ...facts, said: refusal.message }, REFUSED_AS_OURS);
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
