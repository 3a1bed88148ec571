/** UpstreamService: the upstreams and their health, for operators. */
import { enumWord } from "../../api/descriptors.js";
import type { Upstream, UpstreamEjection, UpstreamServiceService } from "../../api/index.js";
import { type Act, eventOf } from "../../audit/act.js";
import { changeOf } from "../../audit/snapshot.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { pageById } from "./page.js";

type Parts = Pick<CoreParts, "upstreams" | "objects" | "nodes" | "store">;

export function upstreamService({ upstreams, objects, nodes, store }: Parts): Handlers<typeof UpstreamServiceService> {
  /** Health is no row of the store, so that its record stands alone. */
  const record = async (act: Act, id: string, told: { before?: object | undefined; after: object }): Promise<void> => {
    const change = changeOf({ before: told.before, after: told.after });
    await store.audit.append(eventOf(act, { resource: `upstreams/${id}`, accountId: "", ...change }));
  };
  const changed = async (id: string, act: Act, change: (id: string) => Upstream): Promise<{ upstream: Upstream }> => {
    const wanted = required("id", id);
    await objects?.catchUp();
    const before = upstreams.list().find((upstream) => upstream.id === wanted);
    const upstream = change(wanted);
    await record(act, id, { before: before && healthOf(before), after: healthOf(upstream) });
    return { upstream };
  };
  return {
    listUpstreams: async (request) => {
      await objects?.catchUp();
      const { rows, nextPageToken } = pageById(upstreams.list(), request, "u");
      const others = await ejectionsOfOthers(nodes);
      // The rows are of this answer alone.
      for (const row of rows) row.ejections.push(...(others.get(row.id) ?? []));
      return { upstreams: [...rows], nextPageToken };
    },
    async getUpstream({ id }) {
      const wanted = required("id", id);
      await objects?.catchUp();
      const found = upstreams.get(wanted);
      found.upstream.ejections.push(...((await ejectionsOfOthers(nodes)).get(wanted) ?? []));
      return found;
    },
    resetUpstream: ({ id }, { act }) => changed(id, act, upstreams.reset),
    drainUpstream: ({ id }, { act }) => changed(id, act, (one) => upstreams.drain(one, true)),
    undrainUpstream: ({ id }, { act }) => changed(id, act, (one) => upstreams.drain(one, false)),
    testUpstream: async ({ id, listOnly }, { act }) => {
      const wanted = required("id", id);
      await objects?.catchUp();
      const answer = await upstreams.test(wanted, listOnly);
      const { httpStatus } = answer;
      const result = enumWord("tollgate.v1.UpstreamTestResult", answer.result);
      await record(act, id, { after: { result, http_status: httpStatus } });
      return answer;
    },
  };
}

/** What other nodes said last that they have ejected, by upstream; nothing where the database is away. */
async function ejectionsOfOthers(nodes: CoreParts["nodes"]): Promise<ReadonlyMap<string, readonly UpstreamEjection[]>> {
  const told = new Map<string, UpstreamEjection[]>();
  for (const { answering, ejections } of await nodes.list().catch(() => []))
    for (const { upstream, ejection } of answering ? [] : ejections)
      if (ejection !== undefined) told.set(upstream, [...(told.get(upstream) ?? []), ejection]);
  return told;
}

function healthOf({ health, ejections }: Upstream): object {
  const set = ejections.map(({ model, cause }) => ({ model, cause: enumWord("tollgate.v1.EjectionCause", cause) }));
  return { health: enumWord("tollgate.v1.UpstreamHealth", health), ejections: set };
}
