/** Sign-in with e-mail address and password. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode } from "react";
import { getSession, getSignIn, signIn } from "../../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Brand } from "./brand.tsx";

export function SignIn(): ReactNode {
  const ways = useQuery(ask(getSignIn, {}));
  const begin = useMutation({
    mutationFn: (asked: { readonly email: string; readonly password: string }) => call(signIn, asked),
    onSuccess: () => forget(getSession),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    begin.mutate({ email: String(form.get("email")), password: String(form.get("password")) });
  };
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <h1>{words.signIn.title}</h1>
        {ways.data?.firstOperatorMissing === true && <p className="notice">{words.signIn.firstMissing}</p>}
        <form onSubmit={submit}>
          <Field label={words.signIn.email} name="email" type="email" autoComplete="username" required />
          <Field
            label={words.signIn.password}
            name="password"
            type="password"
            autoComplete="current-password"
            required
          />
          {begin.error !== null && <Problem error={begin.error} what={words.signIn.failed} />}
          <button className="button main" type="submit" disabled={begin.isPending}>
            {begin.isPending ? words.signIn.running : words.signIn.go}
          </button>
        </form>
      </div>
    </main>
  );
}
