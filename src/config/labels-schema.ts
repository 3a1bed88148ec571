/** Where and how targets process requests, and what accounts and keys demand of them, as a settings file says it. */
import { z } from "zod";
import { defined } from "../base/defined.js";
import { type Labels, parseRetention, REGION, REGIONS_MAX } from "../base/demands.js";
import { block, oneOf, reading } from "./values.js";

const REGIONS_RULE = `must be a list of at most ${REGIONS_MAX} regions such as [eu, us]`;

const region = reading("must be a region such as eu: 1 to 64 of a-z, 0-9, ., _ and -", (value) =>
  REGION.test(value) ? value : undefined,
);
const retention = reading("must be none, or a number of days from 1 to 36500", (value) =>
  parseRetention(value) === undefined ? undefined : value,
);

/** Of an upstream or a target. */
export const labels = block({
  region: region.optional().describe("The region in which requests are processed, such as `eu`"),
  retention: retention.optional().describe("For how many days the upstream keeps requests: `none`, or a number"),
  trains: oneOf(["yes", "no"]).optional().describe("Whether the upstream trains models with requests"),
}).transform((said): Labels => {
  const retentionDays = said.retention === undefined ? undefined : parseRetention(said.retention);
  return defined({ region: said.region, retentionDays, trains: said.trains && said.trains === "yes" });
});

/** Of an account or a key. */
export const demands = block({
  region: z
    .array(region, { error: () => REGIONS_RULE })
    .max(REGIONS_MAX, REGIONS_RULE)
    .default([])
    .describe("The regions in which requests may be processed; empty: all"),
  retention: retention
    .optional()
    .describe("For how many days an upstream may keep requests: `none`, or a number; default: any time"),
  trains: oneOf(["no"])
    .optional()
    .describe("With `no`, upstreams must not train models with requests; default: they may"),
}).transform(({ region: regions, retention: kept = "", trains = "" }) => ({
  region: regions,
  retention: kept,
  trains,
}));
