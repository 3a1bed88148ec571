/** ModelService: the models that the caller's key may use. */
import type { Model, ModelServiceService } from "../../api/index.js";
import type { Caller } from "../../keys/caller.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { pageById } from "./page.js";

export function modelService({ models }: Pick<CoreParts, "models">): Handlers<typeof ModelServiceService> {
  return {
    async listModels(request, { caller }) {
      const { rows, nextPageToken } = pageById(models.list(caller), request, "m");
      return { models: rows.map((model) => shown(model, caller)), nextPageToken };
    },
    async getModel({ id }, { caller }) {
      return { model: shown(models.get(required("id", id), caller), caller) };
    },
  };
}

/** Which upstreams serve a model, and what they publish, is the operator's business. */
function shown(model: Model, caller: Caller): Model {
  return caller.hasScope("operator") ? model : { ...model, upstreams: [], listPrice: undefined };
}
