/** The name by which others see a person. */
import { type FormEvent, type ReactNode, useState } from "react";
import { changeName, getSession } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { meWords } from "../copy/en-me.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { textsOf } from "../shell/link-gate.tsx";
import { useSignedIn } from "../shell/session.ts";

const said = meWords.name;

export function Name(): ReactNode {
  const { name = "" } = useSignedIn().session.user ?? {};
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="card stack">
      <h2>{said.title}</h2>
      <p>{name}</p>
      <p className="soft">{said.about}</p>
      <div className="row">
        <button className="button" type="button" onClick={() => setOpen(true)}>
          {said.change}
        </button>
      </div>
      {isOpen && <Change name={name} onClose={() => setOpen(false)} />}
    </section>
  );
}

function Change({ name, onClose }: { readonly name: string; readonly onClose: () => void }): ReactNode {
  const change = useAct(async (wanted: string) => {
    await call(changeName, { name: wanted });
    await forget(getSession);
  }, onClose);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    change.run(textsOf(event.currentTarget, ["name"]).name);
  };
  return (
    <Dialog title={said.changeTitle} onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label={said.field}
          name="name"
          autoComplete="name"
          defaultValue={name}
          maxLength={128}
          autoFocus
          required
        />
        {change.error !== null && <Problem error={change.error} what={said.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending}>
          {said.go}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
