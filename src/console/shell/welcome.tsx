/** Where the link of a gateway's first start leads: its first operator is made here. */
import { useMutation } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode } from "react";
import { createFirstOperator, getSession } from "../../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Brand } from "./brand.tsx";

export function Welcome(): ReactNode {
  // Behind the #, so that it is in no log of any server.
  const { hash } = useLocation();
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: (asked: { readonly email: string; readonly name: string; readonly password: string }) =>
      call(createFirstOperator, { ...asked, token: hash }),
    onSuccess: async () => {
      await forget(getSession);
      await navigate({ to: "/", replace: true });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? "");
    make.mutate({ email: text("email"), name: text("name"), password: text("password") });
  };
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <div className="stack">
          <h1>{words.welcome.title}</h1>
          <p className="soft">{words.welcome.about}</p>
        </div>
        {hash === "" ? (
          <p className="notice warn">{words.welcome.noToken}</p>
        ) : (
          <form onSubmit={submit}>
            <Field label={words.welcome.name} name="name" autoComplete="name" />
            <Field label={words.signIn.email} name="email" type="email" autoComplete="username" required />
            <Field
              label={words.signIn.password}
              name="password"
              type="password"
              autoComplete="new-password"
              hint={words.welcome.passwordRule}
              minLength={10}
              maxLength={256}
              required
            />
            {make.error !== null && <Problem error={make.error} what={words.welcome.failed} />}
            <button className="button main" type="submit" disabled={make.isPending}>
              {words.welcome.go}
            </button>
          </form>
        )}
      </div>
    </main>
  );
}
