/** Turns on or off that an account's content is kept, and says by which rules and bounds. */
import { type FormEvent, type ReactNode, useState } from "react";
import { type Account, getAccount, updateAccount } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { contentWords } from "../copy/en-content.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ContentFields } from "./content-fields.tsx";
import { contentOf, typedContent, wrongSize } from "./content-form.ts";

interface ChangeContentParts {
  readonly account: Account;
  readonly onClose: () => void;
}

export function ChangeContent({ account: { id, settings, etag }, onClose }: ChangeContentParts): ReactNode {
  const { account } = useSignedIn();
  const [typed, setTyped] = useState(typedContent(settings?.content));
  const isRight = wrongSize(typed.eachKib) === undefined && wrongSize(typed.allMib) === undefined;
  const change = useAct(async () => {
    // The etag tells where another person changed the account since it was read.
    await call(
      updateAccount,
      { id, settings: { content: contentOf(typed) }, updateMask: "content", etag },
      { account },
    );
    await forget(getAccount);
  }, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight) change.run();
  };
  return (
    <Dialog title={contentWords.changeTitle} onClose={onClose}>
      <p>{contentWords.changeWill}</p>
      <form onSubmit={submit}>
        <ContentFields label={contentWords.kept} typed={typed} autoFocus onType={setTyped} />
        {change.error !== null && <Problem error={change.error} what={contentWords.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending || !isRight}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
