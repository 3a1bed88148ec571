/** The models of an upstream's list, of which some are chosen. */
import { type ReactNode, useState } from "react";
import type { OfferedModel } from "../../gen/console/settings_service.js";
import { objectWords as say } from "../copy/en-objects.ts";
import { tokenPrice } from "../models/price.ts";
import { Check, Field } from "../parts/field.tsx";

const SHOWN_MAX = 200;

export interface ChooseModelsParts {
  readonly models: readonly OfferedModel[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

export function ChooseModels({ models, chosen, onChoose }: ChooseModelsParts): ReactNode {
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
      <Field
        label={say.find}
        type="search"
        value={find}
        onChange={({ currentTarget }) => setFind(currentTarget.value)}
      />
      <div className="short" role="group" aria-label={say.choose}>
        {found.map(({ id, price }) => (
          <Check
            key={id}
            label={id}
            hint={
              price === undefined
                ? say.unpriced
                : say.perMillion(tokenPrice(price, "inputPicos"), tokenPrice(price, "outputPicos"))
            }
            checked={chosen.has(id)}
            disabled={price === undefined}
            onChange={() => toggle(id)}
          />
        ))}
      </div>
      <small role="status">{say.chosen(chosen.size)}</small>
    </fieldset>
  );
}
