/** One upstream: how it does, what happened to it, what failed there in its own words, and its drain. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import {
  getUpstream,
  listUpstreams,
  undrainUpstream,
  type Upstream,
  type UpstreamChange,
  type UpstreamFailure,
} from "../../gen/console/upstream_service.js";
import { queryUsage, type UsageSum } from "../../gen/console/usage_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { admin } from "../copy/en-admin.ts";
import { objectWords } from "../copy/en-objects.ts";
import { trafficWords } from "../copy/en-traffic.ts";
import { clockTime, count, milliseconds, roughCount } from "../format.ts";
import { Chart, errorSeries, inMilliseconds, timeSeries } from "../overview/charts.tsx";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Range, usePeriod } from "../parts/range.tsx";
import { valuesAt } from "../parts/series.ts";
import { type Column, Table } from "../parts/table.tsx";
import { type Times, timesOf } from "../parts/times.ts";
import { useSignedIn } from "../shell/session.ts";
import { DrainUpstream } from "./drain-upstream.tsx";
import { TrafficFigures } from "./traffic-figures.tsx";
import { HEALTH_LOOKS } from "./upstreams.tsx";

const AGAIN_MS = 5_000;
const DEFAULT_DAYS = 1;
const WORDS = trafficWords.upstream;

export function UpstreamPage(): ReactNode {
  const { id } = useParams({ from: "/admin/upstreams/$id" });
  const times = timesOf(new Date(), usePeriod(DEFAULT_DAYS));
  const shown = useQuery({ ...ask(getUpstream, { id }), refetchInterval: AGAIN_MS });
  const usage = useQuery(ask(queryUsage, { ...times.asked, upstream: id, groupBy: [times.by] }));
  const { isReader } = useSignedIn();
  const upstream = shown.data?.upstream;
  return (
    <Page
      title={id}
      about={<Link to="/admin/upstreams">← {WORDS.about}</Link>}
      actions={!isReader && upstream !== undefined ? <Drain upstream={upstream} /> : undefined}
    >
      <AllLoaded of={[shown, usage]} what={id} height={640}>
        {(found, { sums }) => (
          <>
            <Health upstream={found.upstream} />
            <span>
              <Range otherwise={DEFAULT_DAYS} />
            </span>
            <TrafficFigures sums={sums} lengthMs={times.lengthMs} />
            <Charts id={id} times={times} sums={sums} />
            <Failures failures={found.failures} />
            <History changes={found.changes} />
          </>
        )}
      </AllLoaded>
    </Page>
  );
}

function Drain({ upstream }: { readonly upstream: Upstream }): ReactNode {
  const { id, health } = upstream;
  const [isAsking, setAsking] = useState(false);
  const changed = (): Promise<void> => forget(getUpstream, listUpstreams);
  const undrain = useMutation({ mutationFn: () => call(undrainUpstream, { id }), onSuccess: changed });
  const close = (): void => {
    setAsking(false);
    void changed();
  };
  if (health === "drained")
    return (
      <>
        <button className="button" type="button" disabled={undrain.isPending} onClick={() => undrain.mutate()}>
          {objectWords.undrain}
        </button>
        {undrain.error !== null && <Problem error={undrain.error} what={objectWords.drainFailed} />}
      </>
    );
  return (
    <>
      <button className="button" type="button" onClick={() => setAsking(true)}>
        {objectWords.drain}
      </button>
      {isAsking && <DrainUpstream upstream={upstream} onClose={close} />}
    </>
  );
}

function Health({ upstream }: { readonly upstream: Upstream | undefined }): ReactNode {
  if (upstream === undefined) return null;
  const { id, health, family, baseUrl, running, ejections } = upstream;
  return (
    <div className="row">
      <span className={HEALTH_LOOKS[health]}>{admin.upstreams.healths[health]}</span>
      <span className="soft">
        {family} · {baseUrl} · {count(running)} {admin.upstreams.running.toLowerCase()}
      </span>
      {ejections.map(({ model, cause, nodeId }) => (
        <span key={`${nodeId} ${model} ${cause}`}>
          {model === "" ? WORDS.all : model}: {admin.upstreams.causes[cause]}
        </span>
      ))}
      <Link to="/admin/requests" search={{ upstream: id }}>
        {WORDS.seeRequests}
      </Link>
      <Link to="/admin/traffic" search={{ by: "upstream" }}>
        {WORDS.seeTraffic}
      </Link>
    </div>
  );
}

interface ChartsParts {
  readonly id: string;
  readonly times: Times;
  readonly sums: readonly UsageSum[];
}

function Charts({ id, times, sums }: ChartsParts): ReactNode {
  const { places } = times;
  const here: Times = { ...times, behind: (place, only) => times.behind(place, { upstream: id, ...only }) };
  const drawn = { times: here, list: "/admin/requests" } as const;
  const inTime = { exact: inMilliseconds, rough: inMilliseconds, isLines: true, none: trafficWords.noAnswers };
  return (
    <div className="columns">
      <Chart
        {...drawn}
        {...inTime}
        title={trafficWords.firstToken}
        series={timeSeries(sums, places, ({ firstToken }) => firstToken)}
      />
      <Chart {...drawn} {...inTime} title={WORDS.latency} series={timeSeries(sums, places, ({ total }) => total)} />
      <Chart
        {...drawn}
        title={trafficWords.requests}
        series={[{ name: trafficWords.requests, values: valuesAt(sums, places, (sum) => sum.requestCount, 0n) }]}
        exact={count}
        rough={roughCount}
      />
      <Chart
        {...drawn}
        title={trafficWords.refusals}
        series={errorSeries(sums, places)}
        none={trafficWords.noRefusals}
        exact={count}
        rough={roughCount}
      />
    </div>
  );
}

function Failures({ failures }: { readonly failures: readonly UpstreamFailure[] }): ReactNode {
  return (
    <section className="card">
      <h2 className="card-head">{WORDS.failures}</h2>
      <p className="soft">{WORDS.failuresAbout}</p>
      {failures.length === 0 ? (
        <p>{WORDS.noFailures}</p>
      ) : (
        <Table
          label={WORDS.failures}
          columns={FAILURES}
          rows={failures.map((failure, at) => ({ ...failure, at }))}
          keyOf={({ at, requestId }) => `${requestId} ${at}`}
          isWhole
        />
      )}
    </section>
  );
}

const FAILURES: readonly Column<UpstreamFailure & { readonly at: number }>[] = [
  { name: WORDS.time, cell: ({ failureTime }) => (failureTime === undefined ? "" : clockTime(failureTime)) },
  { name: WORDS.message, cell: ({ message, errorReason }) => message || errorReason },
  {
    name: WORDS.status,
    cell: ({ httpStatus }) => (httpStatus === 0 ? WORDS.none : httpStatus),
    isNumber: true,
    isExtra: true,
  },
  { name: WORDS.reason, cell: ({ errorReason }) => errorReason, isExtra: true },
  { name: WORDS.model, cell: ({ upstreamModel }) => upstreamModel, isExtra: true },
  {
    name: WORDS.request,
    cell: ({ requestId }) => (
      <Link to="/requests/$id" params={{ id: requestId }}>
        {WORDS.open}
      </Link>
    ),
  },
];

function History({ changes }: { readonly changes: readonly UpstreamChange[] }): ReactNode {
  return (
    <section className="card">
      <h2 className="card-head">{WORDS.history}</h2>
      <p className="soft">{WORDS.historyAbout}</p>
      {changes.length === 0 ? (
        <p>{WORDS.noChanges}</p>
      ) : (
        <Table
          label={WORDS.history}
          columns={CHANGES}
          rows={changes.map((change, at) => ({ ...change, at }))}
          keyOf={({ at, kind }) => `${kind} ${at}`}
          isWhole
        />
      )}
    </section>
  );
}

const CHANGES: readonly Column<UpstreamChange & { readonly at: number }>[] = [
  { name: WORDS.time, cell: ({ changeTime }) => (changeTime === undefined ? "" : clockTime(changeTime)) },
  {
    name: WORDS.what,
    cell: ({ kind, cause, coolingMs }) => (
      <>
        {WORDS.kinds[kind]}
        {cause !== "unspecified" && `: ${admin.upstreams.causes[cause]}`}
        {coolingMs > 0n && <small className="soft"> {milliseconds(coolingMs)}</small>}
      </>
    ),
  },
  { name: WORDS.model, cell: ({ model }) => model || WORDS.all },
];
