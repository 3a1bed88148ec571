/** What the gateway checks of an upstream by itself, as settings say it. */
import { defined } from "../base/defined.js";
import type { CheckSettings } from "./settings.js";
import { block, reading, timeWithin } from "./values.js";

const OFF = "off";
const LEAST_MS = 60_000;
const MOST_MS = 86_400_000;

const interval = reading("must be off or a time from 1m to 24h, such as 10m", (value) =>
  value === OFF ? 0 : timeWithin(value, LEAST_MS, MOST_MS),
);

export const checks = block({
  list: interval
    .optional()
    .describe("How often the gateway reads the list of models while no request goes there; `off`: never; default: 10m"),
  call: interval
    .optional()
    .describe(
      "How often the gateway calls a model there while the upstream is ejected or no request goes there; a call costs you up " +
        "to 16 tokens; default: off",
    ),
}).transform(({ list, call }): CheckSettings => defined({ listMs: list, callMs: call }));
