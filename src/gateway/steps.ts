/** The parts that the pipeline of a generation calls. */
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Limits } from "../limits/limits.js";
import type { Quotas } from "../limits/quotas.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import type { Routing } from "../routing/routing.js";
import type { ClientWire, EmbeddingWire, LongAnswers, LongBodies, SurfaceKind, SurfaceWire } from "../wire/wire.js";

export interface Steps {
  readonly wires: ReadonlyMap<string, ClientWire>;
  readonly embeddingWires: ReadonlyMap<string, EmbeddingWire>;
  readonly surfaces: Readonly<Record<SurfaceKind, SurfaceWire>>;
  /** Reads bodies that are too long for the event loop. */
  readonly longBodies: LongBodies;
  readonly longAnswers: LongAnswers;
  /** The memory budget of answers that are not streamed. */
  readonly answerMemory: ByteBudget;
  readonly routing: Routing;
  readonly limits: Limits;
  readonly quotas: Pick<Quotas, "take">;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}
