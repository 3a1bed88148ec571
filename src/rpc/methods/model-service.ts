/** ModelService: the models that the caller's key may use. */
import type { Model, ModelServiceService } from "../../api/index.js";
import type { Caller } from "../../keys/caller.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { pageById } from "./page.js";

type Parts = Pick<CoreParts, "models" | "objects">;

export function modelService({ models, objects }: Parts): Handlers<typeof ModelServiceService> {
  /** Who changes models sees the change at each node. Programs list models often, and wait for no database. */
  const catchUp = async ({ user }: Caller): Promise<void> => {
    if (user !== undefined) await objects?.catchUp();
  };
  return {
    async listModels(request, { caller }) {
      await catchUp(caller);
      const { rows, nextPageToken } = pageById(models.list(caller), request, "m");
      const unpricedModels = caller.hasScope("operator") ? [...models.unpriced()] : [];
      return { models: rows.map((model) => shown(model, caller)), nextPageToken, unpricedModels };
    },
    async getModel({ id }, { caller }) {
      await catchUp(caller);
      return { model: shown(models.get(required("id", id), caller), caller) };
    },
  };
}

/** Which upstreams serve a model, and what they publish, is the operator's business. */
function shown(model: Model, caller: Caller): Model {
  return caller.hasScope("operator") ? model : { ...model, upstreams: [], listPrice: undefined };
}
