/** UpstreamService: the upstreams and their health, for operators. */
import type { UpstreamServiceService } from "../api/index.js";
import { required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";

export function upstreamService({ upstreams }: Pick<CoreParts, "upstreams">): Handlers<typeof UpstreamServiceService> {
  return {
    listUpstreams: async () => ({ upstreams: [...upstreams.list()] }),
    resetUpstream: async ({ id }) => ({ upstream: upstreams.reset(required("id", id)) }),
  };
}
