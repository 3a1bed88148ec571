/** Makes an alert, or changes one. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Alert, createAlert, listAlerts, updateAlert } from "../../gen/console/alert_service.js";
import { listWebhooks } from "../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Check, Choice, Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { FRESH, isWhole, MASK, settingsOf, type Typed, typedOf, wrongIn } from "./alert-form.ts";
import type { Owner } from "./alerts.tsx";
import { KINDS, kindsFor } from "./condition.ts";

export interface AlertDialogParts {
  readonly owner: Owner;
  /** The alert that is changed; a new one is made where there is none. */
  readonly alert?: Alert;
  readonly onClose: () => void;
}

export function AlertDialog({ owner: { account }, alert, onClose }: AlertDialogParts): ReactNode {
  const [typed, setTyped] = useState(alert?.settings === undefined ? FRESH : typedOf(alert.settings));
  const nanos = settingsOf(typed).amountNanos;
  const before = alert?.settings?.amountNanos ?? 0n;
  const large = useLargeAmounts([{ kind: `alert.${typed.kind}`, nanos, before }]);
  const save = useAct(async () => {
    const settings = settingsOf(typed);
    if (alert === undefined) await call(createAlert, { accountId: account, settings }, { account });
    else await call(updateAlert, { id: alert.id, settings, updateMask: MASK, etag: alert.etag }, { account });
    large.keep();
    await forget(listAlerts);
  }, onClose);
  return (
    <Dialog title={alert === undefined ? alertWords.makeTitle : alertWords.changeTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole(typed) && !large.isOpen) save.run();
        }}
      >
        <Condition typed={typed} onType={setTyped} isOperators={account === ""} />
        <Receivers typed={typed} onType={setTyped} account={account} />
        {large.question}
        {save.error !== null && (
          <Problem error={save.error} what={alert === undefined ? alertWords.makeFailed : alertWords.changeFailed} />
        )}
        <DialogFoot onCancel={onClose} disabled={save.isPending || !isWhole(typed) || large.isOpen}>
          {alert === undefined ? alertWords.makeGo : words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface PartParts {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

function Condition({ typed, onType, isOperators }: PartParts & { readonly isOperators: boolean }): ReactNode {
  const rules: Readonly<Record<string, string>> = alertWords.fieldRules;
  const kinds = kindsFor(isOperators);
  return (
    <>
      <Field
        label={alertWords.name}
        value={typed.name}
        maxLength={200}
        autoFocus
        onChange={({ currentTarget: { value } }) => onType({ ...typed, name: value })}
      />
      <Choice
        label={alertWords.kind}
        value={typed.kind}
        onChange={({ currentTarget: { value } }) =>
          onType({ ...typed, kind: kinds.find((kind) => kind === value) ?? typed.kind })
        }
      >
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {alertWords.kinds[kind]}
          </option>
        ))}
      </Choice>
      <div className="pairs">
        {KINDS[typed.kind].fields.map((field) => (
          <Field
            key={field}
            label={alertWords.fields[field]}
            hint={rules[field]}
            value={typed[field]}
            wrong={wrongIn(typed, field)}
            onChange={({ currentTarget: { value } }) => onType({ ...typed, [field]: value })}
          />
        ))}
      </div>
    </>
  );
}

function Receivers({ typed, onType, account }: PartParts & { readonly account: string }): ReactNode {
  const { data } = useQuery(ask(listWebhooks, { accountId: account }, account));
  const own = data?.webhooks.filter(({ accountId }) => accountId === account) ?? [];
  const toggle = (id: string, isOn: boolean): void =>
    onType({ ...typed, webhookIds: isOn ? [...typed.webhookIds, id] : typed.webhookIds.filter((one) => one !== id) });
  return (
    <>
      <fieldset className="plain">
        <legend>{alertWords.tells}</legend>
        {own.map(({ id, settings }) => (
          <Check
            key={id}
            label={settings?.name || settings?.url || id}
            checked={typed.webhookIds.includes(id)}
            onChange={({ currentTarget: { checked } }) => toggle(id, checked)}
          />
        ))}
        <small className="soft">{alertWords.allWebhooks}</small>
      </fieldset>
      <Field
        label={alertWords.emails}
        hint={alertWords.emailsRule}
        value={typed.emails}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, emails: value })}
      />
      <Check
        label={alertWords.pausedCheck}
        checked={typed.paused}
        onChange={({ currentTarget: { checked } }) => onType({ ...typed, paused: checked })}
      />
    </>
  );
}
