/** The models of an upstream's list, of which some are chosen. */
import { type ReactNode, useState } from "react";
import type { OfferedModel } from "../../gen/console/settings_service.js";
import { objectWords as say } from "../copy/en-objects.ts";
import { tokenPrice } from "../models/price.ts";
import { Check, Field } from "../parts/field.tsx";
import { PriceFields, type TypedPrice } from "./price-fields.tsx";

const SHOWN_MAX = 200;
const OWN_KINDS = ["own", "free"] as const;

export interface ChooseModelsParts {
  readonly models: readonly OfferedModel[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  /** Of the chosen models whose price is not published. */
  readonly price: TypedPrice;
  readonly onPrice: (price: TypedPrice) => void;
}

/** True where a chosen model cannot be served without a price of its own. */
export function hasUnpriced(models: readonly OfferedModel[], chosen: ReadonlySet<string>): boolean {
  return models.some(({ id, price }) => price === undefined && chosen.has(id));
}

export function ChooseModels({ models, chosen, onChoose, price, onPrice }: ChooseModelsParts): ReactNode {
  const [find, setFind] = useState("");
  if (models.length === 0) return <p className="soft">{say.chooseNone}</p>;
  const found = models.filter(({ id }) => id.toLowerCase().includes(find.trim().toLowerCase())).slice(0, SHOWN_MAX);
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  return (
    <fieldset className="stack">
      <legend>{say.choose}</legend>
      <p className="soft">{say.chooseAbout}</p>
      {/* The list pushes the button that asked for it out of sight: the keyboard goes on here. */}
      <Field
        label={say.find}
        type="search"
        autoFocus
        value={find}
        onChange={({ currentTarget }) => setFind(currentTarget.value)}
      />
      <div className="short" role="group" aria-label={say.choose}>
        {found.map(({ id, price: published }) => (
          <Check
            key={id}
            label={id}
            hint={
              published === undefined
                ? say.unpriced
                : say.perMillion(tokenPrice(published, "inputPicos"), tokenPrice(published, "outputPicos"))
            }
            checked={chosen.has(id)}
            onChange={() => toggle(id)}
          />
        ))}
      </div>
      <small role="status">{say.chosen(chosen.size)}</small>
      {hasUnpriced(models, chosen) && (
        <fieldset className="stack">
          <legend>{say.unpricedTitle}</legend>
          <PriceFields typed={price} kinds={OWN_KINDS} onType={(change) => onPrice({ ...price, ...change })} />
        </fieldset>
      )}
    </fieldset>
  );
}
