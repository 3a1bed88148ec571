/** Which model an answer is of, where it names another than the one that was asked. */
import type { Price } from "../api/index.js";
import type { ServedModel, Target } from "./model.js";

/** A model of a published list of prices. */
export interface Listed {
  /** Its name in the list: one for all names that mean the same model. */
  readonly id: string;
  readonly price: Price;
}

/** What another model costs, as far as that is known. */
export interface Answered {
  /** What its clients pay. */
  readonly price: Price | undefined;
  /** What the operator pays. */
  readonly cost: Price | undefined;
}

/** A model of which nothing is known. */
export const UNKNOWN: Answered = { price: undefined, cost: undefined };

/** Where the other models and the list of prices are found. */
export interface AnsweredSteps {
  readonly models: ReadonlyMap<string, ServedModel>;
  /** What the list says of a model; undefined where it says nothing, or was not needed yet. */
  readonly listed: (pricedAs: string, id: string) => Listed | undefined;
}

/** What stands in for a date in a name that is an alias. */
const ALIAS = /-(?:latest|preview|exp)$/;
/**
 * What follows a model's name in the name of one of its versions: dates, numbers of builds, stages. Upstreams say these
 * names, so that no name may be read in two ways: each piece begins with its sign, and has none within.
 */
const VERSION = /^(?:[-@:](?:latest|preview|exp|\d{2,4}|\d{8}|v\d{1,9})|:\d)+$/;

/** True where both names are the model's own, one of them perhaps with the version that an alias stands for. */
export function isSameModel(asked: string, told: string): boolean {
  if (asked === told) return true;
  const [one, other] = [bareName(asked), bareName(told)];
  if (one === other) return true;
  const alias = one.replace(ALIAS, "");
  return isVersionOf(alias, other) || isVersionOf(other, one) || alias === other;
}

/**
 * The other model that an answer names; undefined where it is the one that was asked, or where names say nothing. Its
 * price is that of the model which the settings serve from the same upstream under that name. The list's price counts
 * only where the asked model's own price is the list's too: prices of an operator and of a list are never compared.
 */
export function answeredAs(
  told: string,
  model: ServedModel,
  target: Target,
  { models, listed }: AnsweredSteps,
): Answered | undefined {
  const { served } = target;
  if (isSameModel(target.model, told)) return undefined;
  for (const other of models.values()) {
    const serving = other.targets.find((one) => one.served.id === served.id && one.model === told);
    if (serving !== undefined) return { price: other.price, cost: serving.cost };
  }
  const { pricedAs, namesAnswersItself } = served.family;
  if (namesAnswersItself === true) return undefined;
  const asked = pricedAs === undefined ? undefined : listed(pricedAs, target.model);
  const other = pricedAs === undefined ? undefined : listed(pricedAs, told);
  if (asked !== undefined && asked.id === other?.id) return undefined;
  return { price: model.isListPriced ? other?.price : undefined, cost: other?.price };
}

/**
 * The name that the answer's client reads as its model: the one that was asked, where the target knows the model by
 * another. Undefined leaves it to the upstream's own word: where it was asked by that name, and where another model
 * answers in the stead of the model's first.
 */
export function toldModel({ id, targets }: ServedModel, target: Target): string | undefined {
  if (target.model === id) return undefined;
  const [first] = targets;
  if (first === undefined || target.priority === first.priority) return id;
  return isSameModel(id, target.model) || isSameModel(first.model, target.model) ? id : undefined;
}

/** A name without what stands before it, such as `models/` or `openai/`. */
function bareName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).toLowerCase();
}

function isVersionOf(name: string, version: string): boolean {
  return version.length > name.length && version.startsWith(name) && VERSION.test(version.slice(name.length));
}
