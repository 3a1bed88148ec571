/** Sign-in with e-mail address and password, and a second factor where the person has one. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { beginPasskeySignIn, getSession, getSignIn, signIn } from "../../gen/console/identity_service.js";
import { call, needsCode } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Field } from "../parts/field.tsx";
import { PasswordField } from "../parts/password-field.tsx";
import { Problem } from "../parts/problem.tsx";
import { SecondStep } from "../parts/second-step.tsx";
import { Brand } from "./brand.tsx";
import { Issuers } from "./issuers.tsx";
import { textsOf } from "./link-gate.tsx";

interface SignInAsked {
  readonly email: string;
  readonly password: string;
  /** Empty while it was not asked for. */
  readonly code: string;
  readonly passkey: string;
}

export function SignIn(): ReactNode {
  const ways = useQuery(ask(getSignIn, {}));
  /** The person who gave the right password and still needs a second factor. */
  const [known, setKnown] = useState<SignInAsked>();
  const begin = useMutation({
    mutationFn: (asked: SignInAsked) => call(signIn, asked),
    onSuccess: () => forget(getSession),
    onError: (error, asked) => needsCode(error) && setKnown(asked),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    begin.mutate({ ...textsOf(event.currentTarget, ["email", "password", "code"]), passkey: "" });
  };
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <h1>{words.signIn.title}</h1>
        {ways.data?.firstOperatorMissing === true && <p className="notice">{words.signIn.firstMissing}</p>}
        <form onSubmit={submit}>
          <Field label={words.signIn.email} name="email" type="email" autoComplete="username" required />
          <PasswordField />
          {known !== undefined && (
            <SecondStep
              key={known.email}
              begin={async () => (await call(beginPasskeySignIn, known)).options}
              onAnswer={(passkey) => begin.mutate({ ...known, code: "", passkey })}
              isBusy={begin.isPending}
            />
          )}
          {begin.error !== null && <Problem error={begin.error} what={words.signIn.failed} />}
          <button className="button main" type="submit" disabled={begin.isPending}>
            {begin.isPending ? words.signIn.running : words.signIn.go}
          </button>
        </form>
        <Issuers label={words.signIn.at} />
      </div>
    </main>
  );
}
