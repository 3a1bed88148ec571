/** After a change of settings objects: the pages ask for them again. */
import { listModels } from "../../gen/console/model_service.js";
import { listObjects } from "../../gen/console/settings_service.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import { forget } from "../api/queries.ts";

/** Another node may answer, which uses a change within two seconds. */
const OTHER_NODES_MS = 2_000;

export function forgetObjects(): void {
  const ask = (): void => void forget(listUpstreams, listObjects, listModels);
  ask();
  setTimeout(ask, OTHER_NODES_MS);
}
