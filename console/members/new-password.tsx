/** Where the link of an operator leads who lets somebody choose a new password. */
import { useMutation } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { setPassword } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { memberWords } from "../copy/en-members.ts";
import { Problem } from "../parts/problem.tsx";
import { LinkGate, PasswordField, textsOf } from "../shell/link-gate.tsx";

export function NewPassword(): ReactNode {
  const { hash } = useLocation();
  const set = useMutation({ mutationFn: (password: string) => call(setPassword, { token: hash, password }) });
  return (
    <LinkGate title={memberWords.passwordTitle} about="" hasToken={hash !== ""} needsLink={memberWords.needsLink}>
      {set.isSuccess ? (
        <>
          <p className="notice">{memberWords.passwordDone}</p>
          <Link to="/" className="button main">
            {memberWords.passwordSignIn}
          </Link>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            set.mutate(textsOf(event.currentTarget, ["password"]).password);
          }}
        >
          <PasswordField />
          {set.error !== null && <Problem error={set.error} what={memberWords.passwordFailed} />}
          <button className="button main" type="submit" disabled={set.isPending}>
            {memberWords.passwordGo}
          </button>
        </form>
      )}
    </LinkGate>
  );
}
