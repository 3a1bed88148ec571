/** The keys of the account: found, made, opened. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Key, listKeys } from "../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { keyWords } from "../copy/en-keys.ts";
import { clockTime, fromNow } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { FormInUrl } from "../parts/form-in-url.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useSettled } from "../parts/settled.ts";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Fullest } from "./fullness.tsx";
import { limitWords } from "./limit-words.ts";
import { MakeKey } from "./make-key.tsx";

/** Few are there at once; more come in larger pages. The gateway looks for one, however many there are. */
const FIRST_SIZE = 100;
const MORE_SIZE = 1_000;
const FIND_CHARACTERS_MAX = 200;

export function Keys(): ReactNode {
  const { isReader } = useSignedIn();
  const make = (
    <FormInUrl name="make" value="key" label={keyWords.make}>
      {(close) => <MakeKey onClose={close} />}
    </FormInUrl>
  );
  return (
    <Page title={words.pages.keys} about={keyWords.about} actions={isReader ? undefined : make}>
      <List />
    </Page>
  );
}

function List(): ReactNode {
  const { account } = useSignedIn();
  const { show, find = "" } = useSearch({ from: "/keys" });
  const wanted = useSettled(find.trim());
  const keys = useKeys(account, { text: wanted, revoked: show === "revoked" });
  const rows = keys.data?.pages.flatMap(({ keys }) => keys);
  return (
    <>
      <Filters count={rows?.length} />
      <Loaded of={keys} what={words.pages.keys}>
        {() => (
          <>
            {rows === undefined || rows.length === 0 ? (
              <NoKeys isFiltered={wanted !== ""} isRevoked={show === "revoked"} />
            ) : (
              <Table label={words.pages.keys} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
            )}
            {keys.hasNextPage && (
              <span>
                <button
                  className="button"
                  type="button"
                  disabled={keys.isFetchingNextPage}
                  onClick={() => void keys.fetchNextPage()}
                >
                  {keyWords.more}
                </button>
              </span>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

// oxlint-disable-next-line typescript/explicit-function-return-type
function useKeys(account: string, filter: { readonly text: string; readonly revoked: boolean }) {
  return useInfiniteQuery({
    queryKey: [listKeys.name, account, "pages", filter],
    queryFn: ({ pageParam, signal }) =>
      call(
        listKeys,
        { ...filter, accountId: account, pageSize: pageParam === "" ? FIRST_SIZE : MORE_SIZE, pageToken: pageParam },
        { account, signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: keepPreviousData,
  });
}

function Filters({ count }: { readonly count: number | undefined }): ReactNode {
  const { find = "" } = useSearch({ from: "/keys" });
  const navigate = useNavigate({ from: "/keys" });
  return (
    <div className="row filters">
      <nav className="segments" aria-label={words.pages.keys}>
        {([undefined, "revoked"] as const).map((each) => (
          <Link
            key={each ?? "active"}
            to="/keys"
            search={(before) => ({ ...before, show: each })}
            activeOptions={{ explicitUndefined: true }}
          >
            {keyWords[each ?? "active"]}
          </Link>
        ))}
      </nav>
      <input
        className="input finder"
        type="search"
        aria-label={keyWords.find}
        placeholder={keyWords.find}
        maxLength={FIND_CHARACTERS_MAX}
        value={find}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, find: value || undefined }), replace: true })
        }
      />
      <span className="soft" role="status">
        {count !== undefined && keyWords.shown(count)}
      </span>
    </div>
  );
}

function NoKeys({ isFiltered, isRevoked }: { readonly isFiltered: boolean; readonly isRevoked: boolean }): ReactNode {
  if (isFiltered) return <p className="soft">{keyWords.noneFound}</p>;
  if (isRevoked) return <p className="soft">{keyWords.emptyRevoked}</p>;
  return (
    <Empty title={keyWords.emptyTitle} about={keyWords.emptyAbout}>
      <Link to="/keys" search={{ make: "key" }} className="button main">
        {keyWords.make}
      </Link>
    </Empty>
  );
}

const COLUMNS: readonly Column<Key>[] = [
  {
    name: keyWords.name,
    cell: ({ id, settings }) => (
      <Link to="/keys/$id" params={{ id }}>
        {settings?.name || keyWords.unnamed}
      </Link>
    ),
  },
  { name: keyWords.hint, cell: ({ hint }) => <code className="hint">{hint}</code>, isExtra: true },
  {
    name: keyWords.limits,
    cell: ({ settings }) => limitWords(settings).join(", ") || words.form.none,
    isExtra: true,
  },
  {
    name: keyWords.lastUse,
    cell: ({ figures }) =>
      figures?.lastUseTime === undefined ? keyWords.neverUsed : fromNow(figures.lastUseTime, new Date()),
    isNumber: true,
    isExtra: true,
  },
  { name: keyWords.fullest, cell: (key) => <Fullest shownKey={key} /> },
  {
    name: keyWords.created,
    cell: ({ createTime, revokeTime }) => <CreatedCell time={createTime} revokeTime={revokeTime} />,
    isNumber: true,
    isExtra: true,
  },
];

interface CreatedCellParts {
  readonly time: Date | undefined;
  readonly revokeTime: Date | undefined;
}

function CreatedCell({ time, revokeTime }: CreatedCellParts): ReactNode {
  if (revokeTime !== undefined)
    return <span className="tag">{keyWords.revokedOn(clockTime(revokeTime)).split(".")[0]}</span>;
  return time === undefined ? "" : clockTime(time);
}
