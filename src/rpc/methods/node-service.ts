/** NodeService: the processes that serve one ledger together, for operators. */
import type { NodeServiceService } from "../../api/index.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { pageById } from "./page.js";

export function nodeService({ nodes }: Pick<CoreParts, "nodes">): Handlers<typeof NodeServiceService> {
  return {
    listNodes: async (request) => {
      const { rows, nextPageToken } = pageById(await nodes.list(), request, "n");
      return { nodes: [...rows], nextPageToken };
    },
  };
}
