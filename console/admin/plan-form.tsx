/** Adds a plan, or changes what it gives to new accounts, members and keys. */
import { type FormEvent, type ReactNode, useState } from "react";
import { getAccountPlan } from "../../gen/console/account_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { applyObjects } from "../../gen/console/settings_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { objectWords } from "../copy/en-objects.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { LimitFields } from "../parts/limit-fields.tsx";
import { ModelLimitFields } from "../parts/model-limit-fields.tsx";
import { Problem } from "../parts/problem.tsx";
import { ContentFields } from "./content-fields.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { areRightDays, isRightPlan, specOf, type TypedPlan, typedPlan } from "./plan-spec.ts";

const NAME = "[a-z0-9][a-z0-9._\\-]{0,63}";

export interface PlanFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

export function PlanForm({ object, onClose }: PlanFormParts): ReactNode {
  const [name, setName] = useState(object?.name ?? "");
  const [typed, setTyped] = useState(() => typedPlan(object?.plan));
  const save = useAct(async () => {
    const changes = [{ set: { name, plan: specOf(typed) }, etag: object?.etag ?? "new" }];
    await call(applyObjects, { changes });
    forgetObjects();
    await forget(getAccountPlan);
  }, onClose);
  const type = (change: Partial<TypedPlan>): void => setTyped({ ...typed, ...change });
  const isRight = isRightPlan(typed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight) save.run();
  };
  return (
    <Dialog title={object === undefined ? say.addTitle : say.changeTitle(object.name)} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        {object === undefined ? (
          <Field
            label={say.name}
            hint={say.nameRule}
            pattern={NAME}
            value={name}
            onChange={({ currentTarget: { value } }) => setName(value)}
            autoFocus
            required
          />
        ) : (
          <p className="soft">{say.changeWill}</p>
        )}
        <Values typed={typed} onType={type} />
        {save.error !== null && <Problem error={save.error} what={objectWords.saveFailed} />}
        <DialogFoot onCancel={onClose} disabled={save.isPending || !isRight}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface ValuesParts {
  readonly typed: TypedPlan;
  readonly onType: (change: Partial<TypedPlan>) => void;
}

function Values({ typed, onType }: ValuesParts): ReactNode {
  return (
    <>
      <h3>{say.forAccount}</h3>
      <LimitFields typed={typed.account} onType={(change) => onType({ account: { ...typed.account, ...change } })} />
      <ModelLimitFields typed={typed.models} onType={(models) => onType({ models })} />
      <details className="more">
        <summary>{say.forMembers}</summary>
        <LimitFields typed={typed.members} onType={(change) => onType({ members: { ...typed.members, ...change } })} />
      </details>
      <details className="more">
        <summary>{say.forKeys}</summary>
        <LimitFields typed={typed.keys} onType={(change) => onType({ keys: { ...typed.keys, ...change } })}>
          <Field
            label={say.expiresAfter}
            hint={say.expiresAfterRule}
            inputMode="numeric"
            wrong={areRightDays(typed.expiresAfterDays) ? undefined : say.wrongDays}
            value={typed.expiresAfterDays}
            onChange={({ currentTarget: { value } }) => onType({ expiresAfterDays: value })}
          />
        </LimitFields>
      </details>
      <details className="more">
        <summary>{say.forContent}</summary>
        <ContentFields label={say.allowContent} typed={typed.content} onType={(content) => onType({ content })} />
      </details>
    </>
  );
}
