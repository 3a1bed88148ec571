/** The fields of a key's settings, for a new key and for one that is changed. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { Check, Field } from "../parts/field.tsx";
import { AMOUNTS, COUNTS, isAmount, isCount, SCOPES, type Typed } from "./settings-form.ts";

export interface FieldsParts {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

export function NameField({ typed, onType }: FieldsParts): ReactNode {
  return (
    <Field
      label={words.keys.name}
      value={typed.name}
      maxLength={128}
      autoFocus
      onChange={({ currentTarget: { value } }) => onType({ ...typed, name: value })}
    />
  );
}

export function ScopeFields({ typed, onType }: FieldsParts): ReactNode {
  const toggle = (scope: string, isOn: boolean): void =>
    onType({ ...typed, scopes: isOn ? [...typed.scopes, scope] : typed.scopes.filter((one) => one !== scope) });
  return (
    <fieldset className="plain">
      <legend>{words.keys.what}</legend>
      {SCOPES.map((scope) => (
        <Check
          key={scope}
          label={words.keys.scopeNames[scope]}
          checked={typed.scopes.includes(scope)}
          onChange={({ currentTarget: { checked } }) => toggle(scope, checked)}
        />
      ))}
    </fieldset>
  );
}

const NAMES = {
  requestsPerMinute: words.keys.perMinute,
  tokensPerMinute: words.keys.tokensPerMinute,
  concurrency: words.keys.concurrency,
  budgetDayNanos: words.keys.budgetDay,
  budgetMonthNanos: words.keys.budgetMonth,
  budgetTotalNanos: words.keys.budgetTotal,
  requestCostMaxNanos: words.keys.requestMax,
} as const;

export function LimitFields({ typed, onType }: FieldsParts): ReactNode {
  return (
    <div className="stack">
      <p className="soft">{words.keys.limitRule}</p>
      <div className="pairs">
        {AMOUNTS.map((name) => (
          <Field
            key={name}
            label={NAMES[name]}
            inputMode="decimal"
            value={typed[name]}
            wrong={isAmount(typed[name]) ? undefined : words.keys.wrongMoney}
            onChange={({ currentTarget: { value } }) => onType({ ...typed, [name]: value })}
          />
        ))}
        {COUNTS.map((name) => (
          <Field
            key={name}
            label={NAMES[name]}
            inputMode="numeric"
            value={typed[name]}
            wrong={isCount(typed[name]) ? undefined : words.keys.wrongNumber}
            onChange={({ currentTarget: { value } }) => onType({ ...typed, [name]: value })}
          />
        ))}
        <Field
          label={words.keys.expires}
          type="date"
          value={typed.expires}
          onChange={({ currentTarget: { value } }) => onType({ ...typed, expires: value })}
        />
      </div>
      <Field
        label={words.keys.models}
        hint={words.keys.modelsRule}
        value={typed.models}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, models: value })}
      />
      <Field
        label={words.keys.addresses}
        hint={words.keys.addressesRule}
        value={typed.addresses}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, addresses: value })}
      />
    </div>
  );
}
