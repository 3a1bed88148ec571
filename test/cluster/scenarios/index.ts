/** Every scenario, in the order in which all of them run. */
import type { Scenario } from "../scenario.js";
import { balance } from "./balance.js";
import { freeze, revoke } from "./endings.js";
import { faults } from "./faults.js";
import { latency } from "./latency.js";
import { limit } from "./limit.js";
import { outages } from "./outages.js";
import { rolling } from "./rolling.js";
import { settings } from "./settings.js";
import { slowRedis } from "./slow-redis.js";
import { straight } from "./straight.js";
import { upgrade } from "./upgrade.js";
import { upgradeAll } from "./upgrade-all.js";
import { embeddedWorkers, workers } from "./workers.js";

export const SCENARIOS: readonly Scenario[] = [
  balance,
  limit,
  revoke,
  freeze,
  settings,
  ...faults,
  upgrade,
  upgradeAll,
  rolling,
  ...straight,
  ...outages,
  latency,
  slowRedis,
  workers,
  embeddedWorkers,
];
