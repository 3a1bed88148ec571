/** Changes the password. All sessions end with it, so that the sign-in follows. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { changePassword } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { cache } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { meWords } from "../copy/en-me.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { textsOf } from "../shell/link-gate.tsx";
import { useSignedIn } from "../shell/session.ts";

export function Password(): ReactNode {
  const { hasPassword } = useSignedIn().session;
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="card stack">
      <h2>{meWords.password.title}</h2>
      <p className="soft">{hasPassword ? meWords.password.about : meWords.password.none}</p>
      {hasPassword && (
        <div className="row">
          <button className="button" type="button" onClick={() => setOpen(true)}>
            {meWords.password.change}
          </button>
        </div>
      )}
      {isOpen && <Change onClose={() => setOpen(false)} />}
    </section>
  );
}

function Change({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { user } = useSignedIn().session;
  const change = useMutation({
    mutationFn: (asked: { readonly password: string; readonly newPassword: string }) => call(changePassword, asked),
    onSuccess: () => cache.resetQueries(),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    change.mutate(textsOf(event.currentTarget, ["password", "newPassword"]));
  };
  return (
    <Dialog title={meWords.password.changeTitle} onClose={onClose}>
      <form onSubmit={submit}>
        <p className="soft">{meWords.password.about}</p>
        {/* Password managers learn from it whose password it is. */}
        <input type="text" autoComplete="username" defaultValue={user?.email} hidden />
        <Field
          label={meWords.password.current}
          name="password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
        />
        <Field
          label={meWords.password.next}
          hint={words.welcome.passwordRule}
          name="newPassword"
          type="password"
          autoComplete="new-password"
          minLength={10}
          maxLength={256}
          required
        />
        {change.error !== null && <Problem error={change.error} what={meWords.password.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending}>
          {meWords.password.go}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
