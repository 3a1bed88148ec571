/** What stands before every page: who is not signed in signs in here, at the address of the page that was asked for. */
import { Outlet, useLocation, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { Refusal } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Offline } from "./offline.tsx";
import { SignedInContext, signedInAs, useFirstAccount, useSession } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

export function Gate(): ReactNode {
  const { pathname } = useLocation();
  // Links bring people here who cannot sign in yet.
  if (/\/(?:welcome|invitation|password|sign-in\/[^/]+)$/.test(pathname)) return <Outlet />;
  return (
    <>
      <Offline />
      <Guarded />
    </>
  );
}

function Guarded(): ReactNode {
  const { data, error, refetch } = useSession();
  const otherwise = useFirstAccount(data);
  const { account: named } = useSearch({ from: "__root__" });
  const signedIn = useMemo(
    () => (data === undefined || otherwise === undefined ? undefined : signedInAs(data, otherwise, named)),
    [data, otherwise, named],
  );
  if (error instanceof Refusal && error.status === 401) return <SignIn />;
  if (signedIn !== undefined)
    return (
      <SignedInContext value={signedIn}>
        <Shell />
      </SignedInContext>
    );
  return (
    <main className="gate">
      {error === null ? (
        <Waiting />
      ) : (
        <Problem error={error} what={words.errors.start} onAgain={() => void refetch()} />
      )}
    </main>
  );
}
