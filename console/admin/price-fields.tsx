/** The fields for what a model costs and how much it takes, and what was typed into them as the spec of a model. */
import type { FormEvent, ReactNode } from "react";
import type { ModelSpec } from "../../gen/console/settings_object.js";
import type { RequestFields } from "../api/client.ts";
import { objectWords as say } from "../copy/en-objects.ts";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import { hasOnlyUnits, isRightCost } from "./targets.ts";

const WHOLE = /^\d{0,10}$/;
const CACHE_PRICES = ["cacheRead", "cacheWrite", "cacheWrite1h"] as const;

export type PriceKind = keyof typeof say.prices;

export interface TypedPrice {
  readonly price: PriceKind;
  readonly input: string;
  readonly output: string;
  /** Empty, as the next two: the price that the rules of prices fill in. */
  readonly cacheRead: string;
  readonly cacheWrite: string;
  readonly cacheWrite1h: string;
  readonly contextTokens: string;
  readonly outputTokensMax: string;
}

export interface PriceFieldsParts {
  readonly typed: TypedPrice;
  readonly kinds: readonly PriceKind[];
  /** True where the own price is by other units than tokens. */
  readonly isByUnits?: boolean;
  readonly onType: (change: Partial<TypedPrice>) => void;
}

export function PriceFields({ typed, kinds, isByUnits = false, onType }: PriceFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ [name]: value });
  const money = (name: "input" | "output" | (typeof CACHE_PRICES)[number], hint?: string): ReactNode => (
    <Field
      key={name}
      label={say[name]}
      hint={hint}
      wrong={typed[name] === "" || isRightCost(typed[name]) ? undefined : say.wrongPrice}
      name={name}
      inputMode="decimal"
      value={typed[name]}
      onChange={take}
      required={hint === undefined && !isByUnits}
    />
  );
  const size = (name: "contextTokens" | "outputTokensMax"): ReactNode => (
    <Field
      label={say[name]}
      hint={say.sizeRule}
      wrong={WHOLE.test(typed[name]) ? undefined : say.wrongNumber}
      name={name}
      inputMode="numeric"
      value={typed[name]}
      onChange={take}
    />
  );
  return (
    <>
      <Choice label={say.priceIs} name="price" value={typed.price} onChange={take}>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {say.prices[kind]}
          </option>
        ))}
      </Choice>
      <div className="pairs">
        {typed.price === "own" && money("input")}
        {typed.price === "own" && money("output")}
        {size("contextTokens")}
        {size("outputTokensMax")}
      </div>
      {typed.price === "own" && (
        <LateDetails className="more" summary={say.cachePrices}>
          {() => <div className="pairs">{CACHE_PRICES.map((name) => money(name, say.cachePriceRules[name]))}</div>}
        </LateDetails>
      )}
    </>
  );
}

export function isRightPrice(
  { price, input, output, contextTokens, outputTokensMax, ...more }: TypedPrice,
  before?: ModelSpec,
): boolean {
  const isByUnits = hasOnlyUnits(before?.price) && input === "" && output === "";
  const areCachesRight = CACHE_PRICES.every((name) => more[name] === "" || isRightCost(more[name]));
  const isPriced = price !== "own" || ((isByUnits || (isRightCost(input) && isRightCost(output))) && areCachesRight);
  return isPriced && WHOLE.test(contextTokens) && WHOLE.test(outputTokensMax);
}

export function typedPrice(model: ModelSpec | undefined): TypedPrice {
  const { price, contextTokens = 0n, outputTokensMax = 0n } = model ?? {};
  return {
    price: price === undefined ? "published" : price.free ? "free" : "own",
    input: price?.input ?? "",
    output: price?.output ?? "",
    cacheRead: price?.cacheRead ?? "",
    cacheWrite: price?.cacheWrite ?? "",
    cacheWrite1h: price?.cacheWrite1h ?? "",
    contextTokens: contextTokens === 0n ? "" : String(contextTokens),
    outputTokensMax: outputTokensMax === 0n ? "" : String(outputTokensMax),
  };
}

/** What the fields say of a model. Parts of a price that they do not show stay as they are. */
export function pricedSpec(
  { price, contextTokens, outputTokensMax, ...amounts }: TypedPrice,
  before?: ModelSpec,
): RequestFields<ModelSpec> {
  const own = { ...before?.price, free: false, ...amounts };
  return {
    price: { published: undefined, own, free: { free: true } }[price],
    // What is wrong is not sent, and breaks nothing meanwhile.
    contextTokens: WHOLE.test(contextTokens) ? BigInt(contextTokens || 0) : 0n,
    outputTokensMax: WHOLE.test(outputTokensMax) ? BigInt(outputTokensMax || 0) : 0n,
  };
}
