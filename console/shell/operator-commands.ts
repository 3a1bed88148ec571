/** What operators find beside their own account: accounts and people by name, and upstreams. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { listAccounts } from "../../gen/console/account_service.js";
import { listUsers } from "../../gen/console/identity_service.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import type { Command } from "./palette.tsx";
import { useSignedIn } from "./session.ts";

/** Of the accounts that match. Their page shows the others. */
const ACCOUNTS_MAX = 20;
const PEOPLE_MAX = 1_000;

/** `text` is what was typed. Nothing for who does not see all accounts. */
export function useOperatorCommands(text: string): readonly Command[] {
  const { isOverAll: enabled } = useSignedIn();
  const navigate = useNavigate();
  const accounts = useQuery({
    ...ask(listAccounts, { pageSize: ACCOUNTS_MAX, text }),
    placeholderData: keepPreviousData,
    enabled,
  });
  const people = useQuery({ ...ask(listUsers, { pageSize: PEOPLE_MAX }), enabled });
  const upstreams = useQuery({ ...ask(listUpstreams, {}), enabled });
  return [
    ...(upstreams.data?.upstreams ?? []).map(({ id, family }) => ({
      id: `upstream ${id}`,
      name: id,
      kind: words.palette.upstream,
      finds: family,
      go: () => void navigate({ to: "/admin/upstreams/$id", params: { id } }),
    })),
    ...(accounts.data?.accounts ?? []).map(({ id, name }) => ({
      id: `account ${id}`,
      name: name || id,
      kind: words.palette.account,
      finds: id,
      go: () => void navigate({ to: "/admin/accounts/$id", params: { id } }),
    })),
    ...(people.data?.users ?? []).map(({ id, name, email }) => ({
      id: `person ${id}`,
      name: name || email,
      kind: words.palette.person,
      finds: email,
      go: () => void navigate({ to: "/admin/people" }),
    })),
  ];
}
