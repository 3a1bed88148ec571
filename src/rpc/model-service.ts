/** ModelService: the models that the caller's key may use. */
import type { Model, ModelServiceService } from "../api/index.js";
import type { Caller } from "../keys/caller.js";
import { invalid, required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { PAGE_SIZE_MAX } from "./page.js";

export function modelService({ models }: Pick<CoreParts, "models">): Handlers<typeof ModelServiceService> {
  return {
    async listModels({ pageSize, pageToken }, { caller }) {
      if (pageSize < 0 || pageSize > PAGE_SIZE_MAX) throw invalid("page_size", `must be from 0 to ${PAGE_SIZE_MAX}`);
      const after = readToken(pageToken);
      const all = models.list(caller);
      const rest = after === undefined ? all : all.filter((model) => model.id > after);
      const page = pageSize === 0 ? rest : rest.slice(0, pageSize);
      const last = page.length < rest.length ? page.at(-1) : undefined;
      return {
        models: page.map((model) => shown(model, caller)),
        nextPageToken: last === undefined ? "" : Buffer.from(`m:${last.id}`).toString("base64url"),
      };
    },
    async getModel({ id }, { caller }) {
      return { model: shown(models.get(required("id", id), caller), caller) };
    },
  };
}

/** Which upstreams serve a model is the operator's business. */
function shown(model: Model, caller: Caller): Model {
  return caller.hasScope("operator") ? model : { ...model, upstreams: [] };
}

/** The identifier after which a page begins. It need not exist any more. */
function readToken(token: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (!text.startsWith("m:")) throw invalid("page_token", "is not one of an earlier answer");
  return text.slice(2);
}
