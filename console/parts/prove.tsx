/** The password once more, for what asks for a fresh proof of who is there. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { beginPasskeyProof, proveSession } from "../../gen/console/identity_service.js";
import { call, needsCode } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { Issuers } from "../shell/issuers.tsx";
import { textsOf } from "../shell/link-gate.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Dialog } from "./dialog.tsx";
import { DialogFoot } from "./dialog-foot.tsx";
import { PasswordField } from "./password-field.tsx";
import { Problem } from "./problem.tsx";
import { SecondStep } from "./second-step.tsx";

interface ProofAsked {
  readonly password: string;
  readonly code: string;
  readonly passkey: string;
}

/** A button, and behind it a dialog. */
export function Prove(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { hasPassword } = useSignedIn().session;
  /** What was given with the right password, where a second factor is required. */
  const [known, setKnown] = useState<ProofAsked>();
  const prove = useMutation({
    mutationFn: (asked: ProofAsked) => call(proveSession, asked),
    onSuccess: () => setOpen(false),
    onError: (error, asked) => needsCode(error) && setKnown(asked),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    // The dialog may belong to a form, which must not be sent with it.
    event.stopPropagation();
    prove.mutate({ ...textsOf(event.currentTarget, ["password", "code"]), passkey: "" });
  };
  if (prove.isSuccess) return <span role="status">{words.proof.done}</span>;
  return (
    <span>
      <button className="button small" type="button" onClick={() => setOpen(true)}>
        {hasPassword ? words.proof.open : words.proof.openAtIssuer}
      </button>
      {isOpen && (
        <Dialog title={hasPassword ? words.proof.title : words.proof.titleAtIssuer} onClose={() => setOpen(false)}>
          {hasPassword ? (
            <form onSubmit={submit}>
              <p className="soft">{words.proof.about}</p>
              <PasswordField autoFocus />
              {known !== undefined && (
                <SecondStep
                  begin={async () => (await call(beginPasskeyProof, {})).options}
                  onAnswer={(passkey) => prove.mutate({ ...known, code: "", passkey })}
                  isBusy={prove.isPending}
                />
              )}
              {prove.error !== null && <Problem error={prove.error} what={words.proof.failed} />}
              <DialogFoot onCancel={() => setOpen(false)} disabled={prove.isPending}>
                {words.proof.go}
              </DialogFoot>
            </form>
          ) : (
            <p className="soft">{words.proof.about}</p>
          )}
          <Issuers label={words.proof.at} fresh />
        </Dialog>
      )}
    </span>
  );
}
