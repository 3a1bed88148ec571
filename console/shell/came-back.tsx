/** Where an issuer sends the browser back to: the person is signed in, or asked for what is needed beside. */
import { useMutation } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { type FinishOidcSignInResponse, finishOidcSignIn } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { PasswordField } from "../parts/password-field.tsx";
import { Problem } from "../parts/problem.tsx";
import { SecondStep } from "../parts/second-step.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Brand } from "./brand.tsx";
import { textsOf } from "./link-gate.tsx";
import { goToPlace, RETURNED_QUERY } from "./returned.ts";

interface Shown {
  readonly password: string;
  readonly code: string;
  readonly passkey: string;
}

const NOTHING: Shown = { password: "", code: "", passkey: "" };

export function CameBack(): ReactNode {
  const { name } = useParams({ from: "/sign-in/$name" });
  const needed = useRef<FinishOidcSignInResponse>(undefined);
  /** The password that was right, which goes along with the second factor. */
  const password = useRef("");
  const finish = (shown: Shown): Promise<FinishOidcSignInResponse> =>
    call(finishOidcSignIn, { name, query: RETURNED_QUERY, ...shown });
  const { mutate, error, isPending } = useMutation({
    mutationFn: finish,
    onSuccess: (answer, shown) => {
      password.current = shown.password;
      if (answer.passwordNeeded || answer.codeNeeded) needed.current = answer;
      else goToPlace();
    },
  });
  const isBegun = useRef(false);
  useEffect(() => {
    // An answer of the issuer is good once.
    if (isBegun.current) return;
    isBegun.current = true;
    mutate(NOTHING);
  }, [mutate]);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const typed = textsOf(event.currentTarget, ["password", "code"]);
    mutate({ ...NOTHING, ...typed, password: typed.password || password.current });
  };
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <h1>{words.signIn.title}</h1>
        {needed.current !== undefined && (
          <Needed
            answer={needed.current}
            isPending={isPending}
            onSubmit={submit}
            begin={async () => (await finish({ ...NOTHING, password: password.current })).passkeyOptions}
            onAnswer={(passkey) => mutate({ ...NOTHING, password: password.current, passkey })}
          />
        )}
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
  readonly begin: () => Promise<string>;
  readonly onAnswer: (passkey: string) => void;
}

/** The password first: the passkeys of a person are shown only after it. */
function Needed({ answer, isPending, onSubmit, begin, onAnswer }: NeededParts): ReactNode {
  return (
    <form onSubmit={onSubmit}>
      {answer.passwordNeeded && (
        <>
          <p className="soft">{words.signIn.passwordOnce(answer.email)}</p>
          <PasswordField autoFocus />
        </>
      )}
      {answer.codeNeeded && !answer.passwordNeeded && (
        <SecondStep begin={begin} onAnswer={onAnswer} isBusy={isPending} />
      )}
      <button className="button main" type="submit" disabled={isPending}>
        {isPending ? words.signIn.running : words.signIn.go}
      </button>
    </form>
  );
}
