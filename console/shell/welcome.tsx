/** Where the link of a gateway's first start leads: its first operator is made here. */
import { useMutation } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { createFirstOperator, getSession } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { LinkGate, PasswordField, textsOf } from "./link-gate.tsx";

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
  return (
    <LinkGate
      title={words.welcome.title}
      about={words.welcome.about}
      hasToken={hash !== ""}
      needsLink={words.welcome.noToken}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate(textsOf(event.currentTarget, ["email", "name", "password"]));
        }}
      >
        <Field label={words.welcome.name} name="name" autoComplete="name" />
        <Field label={words.signIn.email} name="email" type="email" autoComplete="username" required />
        <PasswordField />
        {make.error !== null && <Problem error={make.error} what={words.welcome.failed} />}
        <button className="button main" type="submit" disabled={make.isPending}>
          {words.welcome.go}
        </button>
      </form>
    </LinkGate>
  );
}
