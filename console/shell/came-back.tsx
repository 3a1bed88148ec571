/** Where an issuer sends the browser back to: the person is signed in, or asked for what is needed beside. */
import { useMutation } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { type FinishOidcSignInResponse, finishOidcSignIn } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { CodeField } from "../parts/code-field.tsx";
import { PasswordField } from "../parts/password-field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Brand } from "./brand.tsx";
import { textsOf } from "./link-gate.tsx";
import { goToPlace, RETURNED_QUERY } from "./returned.ts";

interface Shown {
  readonly password: string;
  readonly code: string;
}

export function CameBack(): ReactNode {
  const { name } = useParams({ from: "/sign-in/$name" });
  const needed = useRef<FinishOidcSignInResponse>(undefined);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (shown: Shown) => call(finishOidcSignIn, { name, query: RETURNED_QUERY, ...shown }),
    onSuccess: (answer) => {
      if (answer.passwordNeeded || answer.codeNeeded) needed.current = answer;
      else goToPlace();
    },
  });
  const isBegun = useRef(false);
  useEffect(() => {
    // An answer of the issuer is good once.
    if (isBegun.current) return;
    isBegun.current = true;
    mutate({ password: "", code: "" });
  }, [mutate]);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    mutate(textsOf(event.currentTarget, ["password", "code"]));
  };
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <h1>{words.signIn.title}</h1>
        {needed.current !== undefined && <Needed answer={needed.current} isPending={isPending} onSubmit={submit} />}
        {error === null && needed.current === undefined && <Waiting />}
        {error !== null && <Problem error={error} what={words.signIn.failed} />}
        {error !== null && needed.current === undefined && (
          <Link to="/" className="button">
            {words.signIn.again}
          </Link>
        )}
      </div>
    </main>
  );
}

interface NeededParts {
  readonly answer: FinishOidcSignInResponse;
  readonly isPending: boolean;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

function Needed({ answer, isPending, onSubmit }: NeededParts): ReactNode {
  return (
    <form onSubmit={onSubmit}>
      {answer.passwordNeeded && (
        <>
          <p className="soft">{words.signIn.passwordOnce(answer.email)}</p>
          <PasswordField autoFocus />
        </>
      )}
      {answer.codeNeeded && <CodeField />}
      <button className="button main" type="submit" disabled={isPending}>
        {isPending ? words.signIn.running : words.signIn.go}
      </button>
    </form>
  );
}
