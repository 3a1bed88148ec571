/** Changes what a key may do and how much. */
import { type FormEvent, type ReactNode, useState } from "react";
import { getKey, type Key, listKeys, updateKey } from "../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { SettingFields, NameField, ScopeFields } from "./settings-fields.tsx";
import { amountsOf, areRight } from "../parts/limit-form.ts";
import { changesOf, FRESH, typedOf } from "./settings-form.ts";

export interface KeyDialogParts {
  readonly keyShown: Key;
  readonly onClose: () => void;
}

export function ChangeKey({ keyShown, onClose }: KeyDialogParts): ReactNode {
  const { account } = useSignedIn();
  const before = keyShown.settings === undefined ? FRESH : typedOf(keyShown.settings);
  const [typed, setTyped] = useState(before);
  const large = useLargeAmounts(amountsOf(typed, before));
  const change = useAct(async () => {
    const { settings, mask } = changesOf(before, typed);
    if (mask === "") return;
    // The etag tells where another person changed it since it was read.
    await call(updateKey, { id: keyShown.id, settings, updateMask: mask, etag: keyShown.etag }, { account });
    large.keep();
    await forget(getKey, listKeys);
  }, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (areRight(typed) && !large.isOpen) change.run();
  };
  return (
    <Dialog title={keyWords.changeTitle} onClose={onClose}>
      <p className="soft">{keyWords.changeWill}</p>
      <form onSubmit={submit}>
        <NameField typed={typed} onType={setTyped} />
        <ScopeFields typed={typed} onType={setTyped} />
        <SettingFields typed={typed} onType={setTyped} />
        {large.question}
        {change.error !== null && <Problem error={change.error} what={keyWords.changeFailed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending || !areRight(typed) || large.isOpen}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
