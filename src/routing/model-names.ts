/** Which model a request means by the name that it gives, and whether its caller may use it. */
import { GatewayError } from "../base/errors.js";
import type { Caller } from "../keys/caller.js";
import type { ServedModel } from "./model.js";

/** How Claude Code marks for itself a model that it asks with a long context. */
const CLIENTS_HINT = /\[1m\]$/;

/** What a caller may use. */
export type ModelPermission = Pick<Caller, "mayUseModel">;

export class ModelNames {
  /** Models and aliases by their names. */
  readonly #named: ReadonlyMap<string, ServedModel>;
  /**
   * The names by their spelling in small letters, where one model alone is spelled so: two names that differ by
   * capitals alone are two models, and each is found by its own name and no other.
   */
  readonly #alike = new Map<string, string | undefined>();

  constructor(models: ReadonlyMap<string, ServedModel>, aliases: ReadonlyMap<string, ServedModel> = new Map()) {
    this.#named = new Map([...models, ...aliases]);
    for (const name of this.#named.keys()) {
      const small = name.toLowerCase();
      this.#alike.set(small, this.#alike.has(small) ? undefined : name);
    }
  }

  /**
   * The model of this name, with or without the client's hint; else the only one whose name differs from it by capitals
   * alone. Throws MODEL_UNKNOWN, then MODEL_NOT_ALLOWED.
   */
  find(asked: string, caller: ModelPermission): ServedModel {
    const model = this.#find(asked);
    if (model === undefined) throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: asked });
    if (!mayUse(caller, model)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: asked });
    return model;
  }

  /** The models and aliases that the caller may use. */
  list(caller: ModelPermission): readonly ServedModel[] {
    return [...this.#named.values()].filter((model) => mayUse(caller, model));
  }

  /** The name as it was asked, without the client's mark, or in other letters. */
  #find(asked: string): ServedModel | undefined {
    const exact = this.#named.get(asked);
    if (exact !== undefined) return exact;
    const name = asked.replace(CLIENTS_HINT, "");
    return this.#named.get(name) ?? this.#named.get(this.#alike.get(name.toLowerCase()) ?? "");
  }
}

/**
 * A permission is for the model's own name, however a request spells it, and for the alias too. Without both, a key
 * reaches a model that it may not use, or uses an alias that it may not.
 */
function mayUse(caller: ModelPermission, { id, alias }: ServedModel): boolean {
  return caller.mayUseModel(id) && (alias === undefined || caller.mayUseModel(alias));
}
