/** The published price of a model, and of which list it is. */
import type { ReactNode } from "react";
import type { ListPrice } from "../../gen/console/model_service.js";
import type { Price } from "../../gen/console/usage.js";
import { listWords, objectWords, targetWords } from "../copy/en-objects.ts";
import { utcDay } from "../format.ts";
import { tokenPrice } from "../models/price.ts";

/** Such as `$0.15 in, $0.60 out per million tokens`. */
export function priceInShort(price: Price): string {
  return objectWords.perMillion(tokenPrice(price, "inputPicos"), tokenPrice(price, "outputPicos"));
}

/** Which model of which list it is the price of. */
export function ListSource({ of: { upstream, model, list, date } }: { readonly of: ListPrice }): ReactNode {
  return <small className="soft">{listWords.source(targetWords.name(upstream, model), list, utcDay(date))}</small>;
}

/** The price itself too, for beside a price of one's own. */
export function ListedPrice({ of }: { readonly of: ListPrice }): ReactNode {
  return (
    <>
      {of.price !== undefined && <small>{listWords.price(priceInShort(of.price))}</small>} <ListSource of={of} />
    </>
  );
}
