/** The fields for what a model can do, which most models need not have. */
import type { FormEvent, ReactNode } from "react";
import { factWords as say } from "../copy/en-objects.ts";
import { Choice, Field } from "../parts/field.tsx";
import { budgetsOf, FACT_CHOICES, type FactChoice, FLAGS, type TypedFacts } from "./facts.ts";

export interface FactFieldsParts {
  readonly typed: TypedFacts;
  readonly onType: (change: Partial<TypedFacts>) => void;
}

export function FactFields({ typed, onType }: FactFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ [name]: value });
  const known = <option value="">{say.known}</option>;
  // The edge: they are the names of the table.
  const choices = Object.keys(FACT_CHOICES) as readonly FactChoice[];
  return (
    <div className="stack">
      <p className="soft">{say.about}</p>
      <div className="pairs">
        {FLAGS.map((flag) => (
          <Choice key={flag} label={say.flags[flag]} name={flag} value={typed[flag]} onChange={take}>
            {known}
            <option value="yes">{say.yes}</option>
            <option value="no">{say.no}</option>
          </Choice>
        ))}
        {choices.map((choice) => (
          <Choice key={choice} label={say.choices[choice]} name={choice} value={typed[choice]} onChange={take}>
            {known}
            {FACT_CHOICES[choice].map((option) => (
              <option key={option} value={option}>
                {say.options[option]}
              </option>
            ))}
          </Choice>
        ))}
      </div>
      <Field label={say.efforts} hint={say.effortsRule} name="efforts" value={typed.efforts} onChange={take} />
      <Field
        label={say.budgets}
        hint={say.budgetsRule}
        wrong={budgetsOf(typed.budgets) === undefined ? say.wrongBudgets : undefined}
        name="budgets"
        value={typed.budgets}
        onChange={take}
      />
    </div>
  );
}
