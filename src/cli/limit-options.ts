/** The limits that an account and a key have alike, as options of their commands. */
import type { Command } from "commander";
import { readUsd, readWhole } from "./arguments.js";
import { readQuota } from "./quotas.js";

/** Adds them. `note` ends each description. */
export function withLimitOptions(command: Command, owner: "account" | "key", note = ""): Command {
  return command
    .option("--requests-per-minute <n>", `the maximum number of requests in any 60 seconds${note}`, readWhole)
    .option("--tokens-per-minute <n>", `the maximum number of tokens in any 60 seconds${note}`, readWhole)
    .option("--concurrency <n>", `the maximum number of concurrent requests${note}`, readWhole)
    .option("--budget-day <usd>", `the most that the ${owner} may spend in a UTC day${note}`, readUsd)
    .option("--budget-week <usd>", `the most that the ${owner} may spend in a UTC week from Monday on${note}`, readUsd)
    .option("--budget-month <usd>", `the most that the ${owner} may spend in a UTC month${note}`, readUsd)
    .option("--budget-quarter <usd>", `the most that the ${owner} may spend in a UTC quarter${note}`, readUsd)
    .option("--budget-total <usd>", `the most that the ${owner} may ever spend${note}`, readUsd)
    .option("--request-cost-max <usd>", `the most that one request may cost${note}`, readUsd)
    .option(
      "--quota <quota>",
      "the most in a window, such as five_hours=tokens:1000000,amount:5.00 or, for some models, " +
        "'month/gpt-*=requests:500,warn_percent:80'; may be repeated; replaces all quotas; 'none' removes them",
      readQuota,
    );
}
