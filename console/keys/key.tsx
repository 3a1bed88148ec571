/** One key: what it may do, what it spends, and what can be done with it. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { getKey, type Key } from "../../gen/console/key_service.js";
import { queryUsage, type QueryUsageResponse } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { keyWords } from "../copy/en-keys.ts";
import { dateTime, money, roughMoney } from "../format.ts";
import { Bars } from "../parts/bars.tsx";
import { type Fact, FactList } from "../parts/fact-list.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { NAMES_MAX, seriesOf } from "../parts/series.ts";
import { usePeriod } from "../parts/range.tsx";
import { type Times, timesOf } from "../parts/times.ts";
import { useSignedIn } from "../shell/session.ts";
import { ChangeKey } from "./change-key.tsx";
import { Fullnesses } from "./fullness.tsx";
import { limitWords } from "./limit-words.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

const SPEND_DAYS = 30;

export function KeyPage(): ReactNode {
  const { id } = useParams({ from: "/keys/$id" });
  const { account } = useSignedIn();
  const answer = useQuery(ask(getKey, { id }, account));
  // Asked beside the key, and shown once that is there.
  useSpend(id);
  return (
    <Loaded of={answer} what={words.pages.keys} height={480}>
      {({ key }) => key !== undefined && <Shown keyShown={key} />}
    </Loaded>
  );
}

function Shown({ keyShown }: { readonly keyShown: Key }): ReactNode {
  const { isReader } = useSignedIn();
  const { settings, revokeTime, managed } = keyShown;
  const canChange = !isReader && revokeTime === undefined;
  return (
    <Page
      title={settings?.name || keyWords.unnamed}
      about={<Link to="/keys">← {keyWords.back}</Link>}
      actions={canChange ? <Actions keyShown={keyShown} /> : undefined}
    >
      {revokeTime !== undefined && (
        <p className="notice warn">{(managed ? keyWords.removedOn : keyWords.revokedOn)(dateTime(revokeTime))}</p>
      )}
      {managed && canChange && <p className="notice">{keyWords.managed}</p>}
      <div className="columns">
        <Facts keyShown={keyShown} />
        <div className="stack wide">
          <Fullnesses shownKey={keyShown} />
          <Spend id={keyShown.id} />
        </div>
      </div>
    </Page>
  );
}

function Actions({ keyShown }: { readonly keyShown: Key }): ReactNode {
  const [doing, setDoing] = useState<"change" | "rotate" | "revoke">();
  const close = (): void => setDoing(undefined);
  return (
    <>
      <button className="button" type="button" onClick={() => setDoing("change")}>
        {keyWords.change}
      </button>
      <button className="button" type="button" onClick={() => setDoing("rotate")}>
        {keyWords.rotate}
      </button>
      <button className="button danger" type="button" onClick={() => setDoing("revoke")}>
        {keyWords.revoke}
      </button>
      {doing === "change" && <ChangeKey keyShown={keyShown} onClose={close} />}
      {doing === "rotate" && <RotateKey keyShown={keyShown} onClose={close} />}
      {doing === "revoke" && <RevokeKey keyShown={keyShown} onClose={close} />}
    </>
  );
}

function Facts({ keyShown }: { readonly keyShown: Key }): ReactNode {
  const { id, hint, settings, createTime, makerId, makerUserId, figures } = keyShown;
  const scopes = settings?.scopes.map((scope) => scopeName(scope)).join(", ");
  const facts: readonly Fact[] = [
    [keyWords.id, <code>{id}</code>],
    [keyWords.hint, <code>{hint}</code>],
    [keyWords.scopes, scopes || words.form.none],
    [keyWords.limits, limitWords(settings).join(", ") || words.form.none],
    [keyWords.models, settings?.models.join(", ") || words.form.noLimit],
    [keyWords.addresses, settings?.addresses.join(", ") || words.form.noLimit],
    [keyWords.created, createTime === undefined ? "" : dateTime(createTime)],
    [keyWords.lastUse, figures?.lastUseTime === undefined ? keyWords.neverUsed : dateTime(figures.lastUseTime)],
    [keyWords.spentDay, money(figures?.spentDayNanos ?? 0n)],
    [keyWords.spentMonth, money(figures?.spentMonthNanos ?? 0n)],
    [keyWords.spentTotal, money(figures?.spentTotalNanos ?? 0n)],
    ...(makerUserId === "" ? [] : [[keyWords.makerUser, <code>{makerUserId}</code>] as const]),
    ...(makerId === "" ? [] : [[keyWords.maker, <code>{makerId}</code>] as const]),
  ];
  return (
    <section className="card">
      <div className="card-head">
        <h2>{keyWords.facts}</h2>
        <Link to="/requests" search={{ key: id }}>
          {keyWords.seeRequests}
        </Link>
      </div>
      <FactList facts={facts} />
    </section>
  );
}

function scopeName(scope: string): string {
  const names: Readonly<Record<string, string>> = keyWords.scopeNames;
  return names[scope] ?? scope;
}

function useSpendTimes(): Times {
  return timesOf(new Date(), usePeriod(SPEND_DAYS));
}

/** What the key spent, by day and model. */
function useSpend(id: string): UseQueryResult<QueryUsageResponse> {
  const { account } = useSignedIn();
  const times = useSpendTimes();
  const groupBy = [times.by, "model" as const];
  const asked = { accountId: account, keyId: id, ...times.asked, groupBy, valuesMax: NAMES_MAX };
  return useQuery(ask(queryUsage, asked, account));
}

function Spend({ id }: { readonly id: string }): ReactNode {
  const { places, placeName, short, behind } = useSpendTimes();
  const usage = useSpend(id);
  return (
    <section className="card">
      <h2 className="card-head">{keyWords.spend}</h2>
      <Loaded of={usage} what={keyWords.spend} height={220}>
        {({ sums }) => (
          <Bars
            title={keyWords.spend}
            places={places}
            placeName={placeName}
            short={short}
            series={seriesOf(sums, places, ({ costNanos }) => costNanos, { only: (model) => ({ model }) })}
            exact={money}
            rough={roughMoney}
            behind={(place, only) => behind(place, { key: id, ...only })}
          />
        )}
      </Loaded>
    </section>
  );
}
