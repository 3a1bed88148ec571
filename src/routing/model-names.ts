/** Which model a request means by the name that it gives, and whether its caller may use it. */
import { GatewayError } from "../base/errors.js";
import type { Caller } from "../keys/caller.js";
import type { SortKey } from "../wire/wire.js";
import type { ServedModel } from "./model.js";
import type { Wildcard } from "./wildcard.js";

/** How Claude Code marks for itself a model that it asks with a long context. */
const CLIENTS_HINT = /\[1m\]$/;

/** OpenRouter's: the cheapest for the operator, and the one with the most tokens a second. */
const SORT_SUFFIX = /:(floor|nitro)$/;

/** What a caller may use. */
export type ModelPermission = Pick<Caller, "mayUseModel">;

export interface NamedModels {
  readonly models: ReadonlyMap<string, ServedModel>;
  /** The models that aliases stand for, by the names of the aliases. Absent: none. */
  readonly aliases?: ReadonlyMap<string, ServedModel>;
  /** Those with the longest names first. Absent: none. */
  readonly wildcards?: readonly Wildcard[];
}

export class ModelNames {
  /** Models and aliases by their names. */
  readonly #named: ReadonlyMap<string, ServedModel>;
  /**
   * The names by their spelling in small letters, where one model alone is spelled so: two names that differ by
   * capitals alone are two models, and each is found by its own name and no other.
   */
  readonly #alike = new Map<string, string | undefined>();

  readonly #wildcards: readonly Wildcard[];

  constructor(
    { models, aliases = new Map(), wildcards = [] }: NamedModels,
    /** Hears of a name that a caller may use, and that a wildcard has no price or limits for. */
    private readonly onUnpriced: (name: string, wildcard: string) => void,
  ) {
    this.#named = new Map([...models, ...aliases]);
    this.#wildcards = wildcards;
    for (const name of this.#named.keys()) {
      const small = name.toLowerCase();
      this.#alike.set(small, this.#alike.has(small) ? undefined : name);
    }
  }

  /**
   * The model of this name, with or without the client's hint; else the only one whose name differs from it by capitals
   * alone; else the same without a suffix that sorts targets; else one of the wildcard with the longest name. Throws
   * MODEL_UNKNOWN, then MODEL_NOT_ALLOWED.
   */
  find(asked: string, caller: ModelPermission): ServedModel {
    const model = this.#find(asked) ?? this.#find(withoutSort(asked)) ?? this.#ofWildcard(asked, caller);
    if (!mayUse(caller, model)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: asked });
    return model;
  }

  #ofWildcard(asked: string, caller: ModelPermission): ServedModel {
    for (const wildcard of this.#wildcards) {
      const name = asked.replace(CLIENTS_HINT, "");
      const id = wildcard.nameOf(name);
      if (id === undefined) continue;
      const bare = wildcard.nameOf(withoutSort(name));
      const model = wildcard.find(id) ?? (bare === undefined || bare === id ? undefined : wildcard.find(bare));
      if (model !== undefined) return model;
      if (!mayUse(caller, { id })) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: asked });
      this.onUnpriced(id, wildcard.id);
      throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: asked, cause: "unpriced_model" });
    }
    throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: asked });
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

/** The name without the suffix by which a request sorts the targets of its model. */
function withoutSort(name: string): string {
  return name.replace(SORT_SUFFIX, "");
}

/** How the name that a request gives sorts the targets of the model that it found. */
export function sortNamed(asked: string, { id, alias = id }: Pick<ServedModel, "id" | "alias">): SortKey | undefined {
  const [, suffix] = SORT_SUFFIX.exec(asked.replace(CLIENTS_HINT, "")) ?? [];
  if (suffix === undefined || SORT_SUFFIX.test(alias)) return undefined;
  return suffix === "floor" ? "price" : "throughput";
}

/**
 * A permission is for the model's own name, however a request spells it, and for the alias too. Without both, a key
 * reaches a model that it may not use, or uses an alias that it may not.
 */
function mayUse(caller: ModelPermission, { id, alias }: Pick<ServedModel, "id" | "alias">): boolean {
  return caller.mayUseModel(id) && (alias === undefined || caller.mayUseModel(alias));
}
