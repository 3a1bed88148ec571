/** UpstreamService: the upstreams and their health, for operators. */
import { enumWord } from "../api/descriptors.js";
import type { Upstream, UpstreamServiceService } from "../api/index.js";
import { eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { required } from "../api/check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { pageById } from "./page.js";

type Parts = Pick<CoreParts, "upstreams" | "store">;

export function upstreamService({ upstreams, store }: Parts): Handlers<typeof UpstreamServiceService> {
  return {
    listUpstreams: async (request) => {
      const { rows, nextPageToken } = pageById(upstreams.list(), request, "u");
      return { upstreams: [...rows], nextPageToken };
    },
    resetUpstream: async ({ id }, { act }) => {
      const before = upstreams.list().find((upstream) => upstream.id === required("id", id));
      const upstream = upstreams.reset(id);
      // Health is no row of the store, so that its record stands alone.
      const told = changeOf({ before: before && healthOf(before), after: healthOf(upstream) });
      await store.audit.append(eventOf(act, { resource: `upstreams/${id}`, accountId: "", ...told }));
      return { upstream };
    },
  };
}

function healthOf({ health, asides }: Upstream): object {
  const set = asides.map(({ model, cause }) => ({ model, cause: enumWord("tollgate.v1.AsideCause", cause) }));
  return { health: enumWord("tollgate.v1.UpstreamHealth", health), asides: set };
}
