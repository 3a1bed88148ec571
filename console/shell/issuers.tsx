/** A button for each issuer at which people sign in. It leads there, and the issuer leads back. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { beginOidcSignIn, getSignIn } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { ActButton } from "../parts/act-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { rememberPlace } from "./returned.ts";

export interface IssuersParts {
  /** What a button says, such as "Sign in with Corp". */
  readonly label: (title: string) => string;
  /** True where the issuer must have seen the person of late. */
  readonly fresh?: boolean;
  /** The token of an invitation that is accepted so. */
  readonly invitation?: string;
}

export function Issuers({ label, fresh = false, invitation = "" }: IssuersParts): ReactNode {
  const { data } = useQuery(ask(getSignIn, {}));
  const begin = useAct(
    (name: string) => call(beginOidcSignIn, { name, fresh, invitation }),
    ({ authorizationUri }) => {
      rememberPlace();
      window.location.assign(authorizationUri);
    },
  );
  if (data === undefined || data.issuers.length === 0) return null;
  return (
    <div className="stack">
      {data.issuers.map(({ name, title }) => (
        <ActButton
          key={name}
          className="button"
          disabled={begin.isPending || begin.isSuccess}
          onAct={() => begin.run(name)}
        >
          {label(title)}
        </ActButton>
      ))}
      {begin.error !== null && <Problem error={begin.error} what={words.signIn.failed} />}
    </div>
  );
}
