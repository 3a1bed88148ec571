/** UpstreamService: the upstreams and their health, for operators. */
import type { UpstreamServiceService } from "../api/index.js";
import { required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { pageById } from "./page.js";

export function upstreamService({ upstreams }: Pick<CoreParts, "upstreams">): Handlers<typeof UpstreamServiceService> {
  return {
    listUpstreams: async (request) => {
      const { rows, nextPageToken } = pageById(upstreams.list(), request, "u");
      return { upstreams: [...rows], nextPageToken };
    },
    resetUpstream: async ({ id }) => ({ upstream: upstreams.reset(required("id", id)) }),
  };
}
