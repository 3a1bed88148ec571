/** The fields of a key's settings, for a new key and for one that is changed. */
import type { ReactNode } from "react";
import type { AccountPlan } from "../../gen/console/account_service.js";
import { keyWords } from "../copy/en-keys.ts";
import { planWords } from "../copy/en-plans.ts";
import { Check, Field } from "../parts/field.tsx";
import { LimitFields, limitHints } from "../parts/limit-fields.tsx";
import { SCOPES, type Typed } from "./settings-form.ts";

export interface FieldsParts {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

export function NameField({ typed, onType }: FieldsParts): ReactNode {
  return (
    <Field
      label={keyWords.name}
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
      <legend>{keyWords.what}</legend>
      {SCOPES.map((scope) => (
        <Check
          key={scope}
          label={keyWords.scopeNames[scope]}
          checked={typed.scopes.includes(scope)}
          onChange={({ currentTarget: { checked } }) => toggle(scope, checked)}
        />
      ))}
    </fieldset>
  );
}

interface SettingFieldsParts extends FieldsParts {
  /** What a new key gets where a field is empty. */
  readonly plan?: AccountPlan | undefined;
}

export function SettingFields({ typed, onType, plan }: SettingFieldsParts): ReactNode {
  const hints = limitHints(plan?.keys, planWords.byPlan);
  const { keysExpireAfterDays: days = 0 } = plan ?? {};
  return (
    <div className="stack">
      <LimitFields typed={typed} hints={hints} onType={(change) => onType({ ...typed, ...change })}>
        <Field
          label={keyWords.expires}
          type="date"
          hint={days === 0 ? undefined : planWords.expiresByPlan(days)}
          value={typed.expires}
          onChange={({ currentTarget: { value } }) => onType({ ...typed, expires: value })}
        />
      </LimitFields>
      <Field
        label={keyWords.models}
        hint={keyWords.modelsRule}
        value={typed.models}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, models: value })}
      />
      <Field
        label={keyWords.addresses}
        hint={keyWords.addressesRule}
        value={typed.addresses}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, addresses: value })}
      />
    </div>
  );
}
