/** Where the link of a gateway's first start leads: its first operator is made here. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { createFirstOperator, getSession, getSignIn } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
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
  const ways = useQuery(ask(getSignIn, {}));
  if (hash !== "" && ways.data?.firstOperatorMissing === false) return <Used />;
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

/** The link is for one person, so that a later reader need not fill in the form to learn that it was used. */
function Used(): ReactNode {
  return (
    <LinkGate title={words.welcome.usedTitle} about={words.welcome.usedAbout} hasToken needsLink="">
      <Link to="/" className="button main">
        {words.signIn.go}
      </Link>
    </LinkGate>
  );
}
