/** Where the link of an invitation leads: its user joins, as somebody new or by the password they have. */
import { useMutation } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { acceptInvitation, beginPasskeySignIn, getSession } from "../../gen/console/identity_service.js";
import { call, needsCode } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { memberWords } from "../copy/en-members.ts";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { SecondStep } from "../parts/second-step.tsx";
import { Issuers } from "../shell/issuers.tsx";
import { LinkGate, PasswordField, textsOf } from "../shell/link-gate.tsx";

interface AcceptAsked {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly code: string;
  readonly passkey: string;
}

export function Accept(): ReactNode {
  const { hash } = useLocation();
  const navigate = useNavigate();
  /** The person who gave the right password and still needs a second factor. */
  const [known, setKnown] = useState<AcceptAsked>();
  const join = useMutation({
    mutationFn: (asked: AcceptAsked) => call(acceptInvitation, { ...asked, token: hash }),
    onError: (error, asked) => needsCode(error) && setKnown(asked),
    onSuccess: async () => {
      await forget(getSession);
      await navigate({ to: "/", replace: true });
    },
  });
  return (
    <LinkGate
      title={memberWords.acceptTitle}
      about={memberWords.acceptAbout}
      hasToken={hash !== ""}
      needsLink={memberWords.needsLink}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          join.mutate({ ...textsOf(event.currentTarget, ["email", "name", "password", "code"]), passkey: "" });
        }}
      >
        <Field label={words.signIn.email} name="email" type="email" autoComplete="username" required />
        <Field label={words.welcome.name} name="name" autoComplete="name" hint={memberWords.nameRule} />
        <PasswordField />
        {known !== undefined && (
          <SecondStep
            key={known.email}
            begin={async () => (await call(beginPasskeySignIn, known)).options}
            onAnswer={(passkey) => join.mutate({ ...known, code: "", passkey })}
            isBusy={join.isPending}
          />
        )}
        {join.error !== null && <Problem error={join.error} what={memberWords.acceptFailed} />}
        <button className="button main" type="submit" disabled={join.isPending}>
          {memberWords.acceptGo}
        </button>
      </form>
      <Issuers label={memberWords.joinAt} invitation={hash} />
    </LinkGate>
  );
}
