/** A wildcard as the gateway serves it: it makes a model when a client first names it. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { ModelSettings } from "../config/settings.js";
import { starIn, withStar } from "../config/wildcards.js";
import type { ServedModel } from "./model.js";

/** Clients may name any model: so many are kept of a wildcard, the latest used. */
const MADE_MAX = 200;
const STAR_FORM = /^[a-z0-9._:/@-]{1,128}$/;

/** The model that a wildcard stands for under one name. */
export function concreteOf(wildcard: ModelSettings, star: string): ModelSettings {
  const targets = wildcard.targets.map((target) => ({ ...target, model: withStar(target.model, star) }));
  return { ...wildcard, id: withStar(wildcard.id, star), targets };
}

export interface WildcardOptions {
  /** Undefined where no price or no limit of the model is known. */
  readonly make: (model: ModelSettings) => ServedModel | undefined;
  /** True where only models of the upstream's own list are served, which is known and has its models elsewhere. */
  readonly isListOnly: boolean;
}

export class Wildcard {
  readonly #made = new LRUCache<string, ServedModel>(boundedTo(MADE_MAX));

  constructor(
    private readonly settings: ModelSettings,
    private readonly options: WildcardOptions,
  ) {}

  get id(): string {
    return this.settings.id;
  }

  /** The name of the model that a client means, in one spelling; undefined where it is none of the wildcard's. */
  nameOf(asked: string): string | undefined {
    // What only differs by capitals is one model: with two, a limit or a denied name would be passed by spelling.
    const star = starIn(this.id, asked)?.toLowerCase();
    return star === undefined || !STAR_FORM.test(star) ? undefined : withStar(this.id, star);
  }

  /** The model of a name that `nameOf` gave. Undefined: it is not in the list, or has no price or no limits. */
  find(name: string): ServedModel | undefined {
    if (this.options.isListOnly) return undefined;
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = this.options.make(concreteOf(this.settings, starIn(this.id, name) ?? ""));
    if (made !== undefined) this.#made.set(name, made);
    return made;
  }
}
