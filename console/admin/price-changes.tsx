/** The list of published prices in force, and the changes of a snapshot that wait for an operator. */
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listModels } from "../../gen/console/model_service.js";
import {
  acceptPriceChanges,
  getPriceList,
  listPriceChanges,
  type PriceChange,
  type PriceComponentChange,
  type PriceList,
  refreshPriceList,
  rejectPriceChanges,
} from "../../gen/console/price_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { priceChangeWords as say } from "../copy/en-prices.ts";
import { dateTime } from "../format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";

/** Shown only where the settings refresh the prices. */
export function PriceChanges(): ReactNode {
  const list = useQuery(ask(getPriceList, {})).data?.priceList;
  if (list === undefined || list.refresh === "pinned") return null;
  return (
    <section className="stack">
      <h2>{say.title}</h2>
      <InForce of={list} />
      <Pending />
    </section>
  );
}

function InForce({ of: { list, serial, snapshot, past, problem } }: { readonly of: PriceList }): ReactNode {
  const { isReader } = useSignedIn();
  const refresh = useMutation({ mutationFn: () => call(refreshPriceList, {}), onSuccess: forgetPrices });
  const since = serial === 0n ? undefined : past[0]?.createTime;
  return (
    <>
      <p>
        {say.inForce(list, since === undefined ? "" : dateTime(since))}{" "}
        {snapshot?.readTime !== undefined && (
          <span className="soft">{say.read(String(snapshot.serial), dateTime(snapshot.readTime))}</span>
        )}
      </p>
      {problem !== "" && <p className="tag warn">{say.problem(problem)}</p>}
      {!isReader && (
        <span>
          <button className="button small" type="button" disabled={refresh.isPending} onClick={() => refresh.mutate()}>
            {say.refresh}
          </button>
        </span>
      )}
      {refresh.error !== null && <Problem error={refresh.error} what={say.refreshFailed} />}
    </>
  );
}

function Pending(): ReactNode {
  const changes = useQuery(ask(listPriceChanges, {}));
  const { isReader } = useSignedIn();
  const columns = isReader ? COLUMNS : [...COLUMNS, ACTIONS];
  return (
    <Loaded of={changes} what={say.title}>
      {({ priceChanges: rows, nextPageToken }) =>
        rows.length === 0 ? (
          <p className="soft">{say.none}</p>
        ) : (
          <>
            <Table label={say.title} columns={columns} rows={rows} keyOf={({ id }) => id} />
            {nextPageToken !== "" && <p className="soft">{say.more}</p>}
          </>
        )
      }
    </Loaded>
  );
}

const COLUMNS: readonly Column<PriceChange>[] = [
  { name: say.model, cell: ({ provider, model }) => <strong>{`${provider}/${model}`}</strong> },
  { name: say.change, cell: (change) => <Components of={change} /> },
  { name: say.waits, cell: ({ reasons }) => reasons.join("; ") || say.allowed, isExtra: true },
];

const ACTIONS = actionsColumn<PriceChange>(say.actions, ({ id }) => <Decide id={id} />);

function Components({ of: { kind, components } }: { readonly of: PriceChange }): ReactNode {
  return (
    <span className="stack">
      <span>{kind === "new" ? say.isNew : kind === "removed" ? say.isRemoved : ""}</span>
      {components.map((one) => (
        <span key={one.component}>
          {say.component(one.component, amount(one.from), amount(one.to))}{" "}
          <small className="soft">{othersOf(one)}</small>
        </span>
      ))}
    </span>
  );
}

function amount(value: number | undefined): string {
  return value === undefined ? say.noPrice : String(value);
}

function othersOf({ others }: PriceComponentChange): string {
  return others.map(({ list, price }) => say.other(list, price)).join(", ");
}

function Decide({ id }: { readonly id: string }): ReactNode {
  const accept = useMutation({ mutationFn: () => call(acceptPriceChanges, { ids: [id] }), onSuccess: forgetPrices });
  const reject = useMutation({ mutationFn: () => call(rejectPriceChanges, { ids: [id] }), onSuccess: forgetPrices });
  const error = accept.error ?? reject.error;
  const isBusy = accept.isPending || reject.isPending;
  const actions = [
    { name: say.accept, isBusy, act: () => accept.mutate() },
    { name: say.reject, isBusy, act: () => reject.mutate() },
  ];
  return <RowActions actions={actions}>{error !== null && <Problem error={error} what={say.failed} />}</RowActions>;
}

function forgetPrices(): void {
  void forget(getPriceList, listPriceChanges, listModels);
}
