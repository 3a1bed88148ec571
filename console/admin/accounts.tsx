/** All accounts, and the way into each. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Account, listAccounts } from "../../gen/console/account_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { clockTime } from "../format.ts";
import { FormInUrl } from "../parts/form-in-url.tsx";
import { Money } from "../parts/money.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { MakeAccount } from "./make-account.tsx";

const PAGE_SIZE = 200;

export function Accounts(): ReactNode {
  const { page = "" } = useSearch({ from: "/admin/accounts" });
  const { isReader } = useSignedIn();
  const make = (
    <FormInUrl value="account" label={admin.accounts.make}>
      {(close) => <MakeAccount onClose={close} />}
    </FormInUrl>
  );
  const accounts = useQuery(ask(listAccounts, { pageSize: PAGE_SIZE, pageToken: page }));
  const nextPageToken = accounts.data?.nextPageToken ?? "";
  return (
    <Page title={words.pages.accounts} about={admin.accounts.about} actions={isReader ? undefined : make}>
      <Loaded of={accounts} what={words.pages.accounts}>
        {(found) => (
          <Table label={words.pages.accounts} columns={COLUMNS} rows={found.accounts} keyOf={({ id }) => id} />
        )}
      </Loaded>
      <span className="row">
        {page !== "" && (
          <Link to="/admin/accounts" search={(before) => ({ ...before, page: undefined })} className="button">
            {admin.accounts.first}
          </Link>
        )}
        {nextPageToken !== "" && (
          <Link to="/admin/accounts" search={(before) => ({ ...before, page: nextPageToken })} className="button">
            {admin.accounts.more}
          </Link>
        )}
      </span>
    </Page>
  );
}

const COLUMNS: readonly Column<Account>[] = [
  {
    name: admin.accounts.id,
    cell: ({ id }) => (
      <Link to="/admin/accounts/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  { name: admin.accounts.name, cell: ({ name }) => name },
  {
    name: admin.accounts.state,
    cell: ({ freeze }) => (
      <span className={freeze === undefined ? "tag good" : "tag bad"}>
        {freeze === undefined ? admin.accounts.open : admin.accounts.frozen}
      </span>
    ),
  },
  {
    name: admin.accounts.balance,
    cell: ({ figures }) => <Money nanos={figures?.availableNanos ?? 0n} isAligned />,
    isNumber: true,
  },
  {
    name: admin.accounts.month,
    cell: ({ figures }) => <Money nanos={figures?.spentMonthNanos ?? 0n} isAligned />,
    isNumber: true,
    isExtra: true,
  },
  {
    name: admin.accounts.created,
    cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)),
    isNumber: true,
    isExtra: true,
  },
];
