/** The metric of what prompt caches saved. */
import { Gauge, type Registry } from "prom-client";
import { approximateUsd } from "../base/money.js";
import type { ModelCounts } from "./model-counts.js";

const HELP =
  "What prompt caches saved for accounts since the start, in USD, on models with `cache_marks: auto`, by who marked the " +
  "prompt (`client`, `auto` or `none`); negative if caching cost more than it saved.";

export function tellCacheSavings(registry: Registry, models: ReadonlyMap<string, ModelCounts>): void {
  const gauge = new Gauge({
    name: "tollgate_cache_saved_usd",
    help: HELP,
    labelNames: ["model", "marks"],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const [model, { cacheSavedNanos }] of models)
        for (const [marks, nanos] of Object.entries(cacheSavedNanos))
          gauge.set({ model, marks }, approximateUsd(nanos));
    },
  });
}
