/** Who is signed in, and the account in which the page acts. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import { listAccounts } from "../../gen/console/account_service.js";
import { type GetSessionResponse, getSession } from "../../gen/console/identity_service.js";
import { ask } from "../api/queries.ts";

/** The account of the operators' own keys, which is there from the first start and rarely what somebody looks for. */
const OPERATORS_OWN = "operator";

export interface SignedIn {
  readonly session: GetSessionResponse;
  /** The id of the account; empty where there is none. */
  readonly account: string;
  readonly isOperator: boolean;
  /** True for who sees every account: operators, and auditors who only look. */
  readonly isOverAll: boolean;
  /** True for who may change nothing. */
  readonly isReader: boolean;
  /** True for who may change members, alerts and webhooks of the account. */
  readonly isManager: boolean;
  /** True for who sees the account's members. */
  readonly seesMembers: boolean;
  /** True for who sees the account's audit log. */
  readonly seesAudit: boolean;
}

export const SignedInContext = createContext<SignedIn | undefined>(undefined);

/** Of a page behind the sign-in. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === undefined) throw new Error("nobody is signed in");
  return signedIn;
}

/** The session in the account that the URL names. */
// oxlint-disable-next-line typescript/explicit-function-return-type
export function useSession() {
  const { account = "" } = useSearch({ from: "__root__" });
  return useQuery({ ...ask(getSession, {}, account), staleTime: 60_000, refetchOnWindowFocus: "always" });
}

/**
 * The account in which somebody acts who sees all of them and whose URL names none: the first one, empty where there is
 * none; undefined while it is not known.
 */
export function useFirstAccount(session: GetSessionResponse | undefined): string | undefined {
  const { account: named } = useSearch({ from: "__root__" });
  const isOpen = session !== undefined && (session.accountId === "" || session.accountId === OPERATORS_OWN);
  const isNeeded = named === undefined && isOpen && seesAll(session);
  const { data, isLoading } = useQuery({ ...ask(listAccounts, { pageSize: 2 }), enabled: isNeeded });
  if (isLoading) return undefined;
  return isNeeded ? (data?.accounts.find(({ id }) => id !== OPERATORS_OWN)?.id ?? "") : "";
}

function seesAll({ user }: GetSessionResponse): boolean {
  return user !== undefined && user.installationRole !== "unspecified";
}

/** The person in the account that the URL names, else in the first one of `otherwise` and the session. */
export function signedInAs(session: GetSessionResponse, otherwise: string, named: string | undefined): SignedIn {
  const { installationRole } = session.user ?? { installationRole: "unspecified" };
  const isReader = session.role === "viewer" || installationRole === "auditor";
  const leads = session.role === "owner" || session.role === "admin";
  return {
    session,
    account: otherwise || (named === undefined && session.accountId === OPERATORS_OWN ? "" : session.accountId),
    isOperator: installationRole === "operator",
    isOverAll: seesAll(session),
    isReader,
    isManager: leads && !isReader,
    seesMembers: session.role !== "viewer" || seesAll(session),
    seesAudit: leads || seesAll(session),
  };
}
