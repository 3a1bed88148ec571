/** The upstreams: their health, why one is ejected, and how one is added, tested, changed, drained and reset. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listNodes } from "../../gen/console/node_service.js";
import { listObjects } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import {
  listUpstreams,
  resetUpstream,
  testUpstream,
  undrainUpstream,
  type Upstream,
  type UpstreamCheck,
} from "../../gen/console/upstream_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { objectWords } from "../copy/en-objects.ts";
import { count, fromNow, milliseconds } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { FormInUrl } from "../parts/form-in-url.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { DrainUpstream } from "./drain-upstream.tsx";
import { objectActions, Origin } from "./object-actions.tsx";
import { UpstreamForm } from "./upstream-form.tsx";

const AGAIN_MS = 3_000;
const BUILT_IN = "sim";
export const HEALTH_LOOKS = {
  unspecified: "tag",
  untested: "tag",
  healthy: "tag good",
  cooling: "tag warn",
  refused: "tag bad",
  drained: "tag warn",
} as const;

export function Upstreams(): ReactNode {
  const upstreams = useQuery({ ...ask(listUpstreams, {}), refetchInterval: AGAIN_MS });
  const nodes = useQuery(ask(listNodes, {})).data?.nodes ?? [];
  const objects = useQuery(ask(listObjects, { kind: "upstream" })).data?.objects ?? [];
  const { isReader } = useSignedIn();
  const own = nodes.find(({ answering }) => answering);
  const isOneOfMany = nodes.length > 1;
  const named = new Map(objects.map((object) => [object.name, object]));
  const add = (
    <FormInUrl value="upstream" label={objectWords.addUpstream}>
      {(close) => <UpstreamForm object={undefined} onClose={close} />}
    </FormInUrl>
  );
  return (
    <Page title={words.pages.upstreams} about={admin.upstreams.about} actions={isReader ? undefined : add}>
      <Loaded of={upstreams} what={words.pages.upstreams}>
        {(all) =>
          all.upstreams.length === 0 ? (
            <Empty title={admin.upstreams.emptyTitle} about={admin.upstreams.emptyAbout} />
          ) : (
            <>
              {own !== undefined && isOneOfMany && <p className="soft">{admin.upstreams.whose(own.id)}</p>}
              <Table
                label={words.pages.upstreams}
                columns={columns(isOneOfMany, isReader, named)}
                rows={all.upstreams}
                keyOf={({ id }) => id}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const columns = (
  isOneOfMany: boolean,
  isReader: boolean,
  named: ReadonlyMap<string, SettingsObject>,
): readonly Column<Upstream>[] => [
  { name: admin.upstreams.id, cell: ({ id }) => <UpstreamLink id={id} /> },
  {
    name: admin.upstreams.health,
    cell: ({ health, lastCheck, server, warnings }) => (
      <span className="stack">
        <span className={HEALTH_LOOKS[health]}>{admin.upstreams.healths[health]}</span>
        {lastCheck !== undefined && <LastCheck check={lastCheck} />}
        {server?.running !== undefined && (
          <small className="soft">{admin.upstreams.reported(server.running, server.slots, server.waiting)}</small>
        )}
        {warnings.map((warning) => (
          <small key={warning} className="wrong">
            {warning}
          </small>
        ))}
      </span>
    ),
  },
  { name: admin.upstreams.family, cell: ({ family }) => family, isExtra: true },
  { name: admin.upstreams.address, cell: ({ baseUrl }) => <code className="id">{baseUrl}</code>, isExtra: true },
  { name: admin.upstreams.models, cell: ({ models }) => models.join(", "), isExtra: true },
  {
    name: objectWords.origin,
    cell: ({ id, family }) => <UpstreamOrigin family={family} object={named.get(id)} />,
    isExtra: true,
  },
  { name: admin.upstreams.running, cell: ({ running }) => count(running), isNumber: true, isExtra: true },
  { name: admin.upstreams.why, cell: (upstream) => <Why upstream={upstream} isOneOfMany={isOneOfMany} /> },
  ...(isReader
    ? []
    : [
        actionsColumn<Upstream>(objectWords.actions, (upstream) => (
          <Actions upstream={upstream} object={named.get(upstream.id)} />
        )),
      ]),
];

function UpstreamLink({ id }: { readonly id: string }): ReactNode {
  return (
    <Link to="/admin/upstreams/$id" params={{ id }}>
      <strong>{id}</strong>
    </Link>
  );
}

function LastCheck({ check }: { readonly check: UpstreamCheck }): ReactNode {
  const { checkTime, problem, missingModels } = check;
  const when = checkTime === undefined ? "" : fromNow(checkTime, new Date());
  const says = [
    problem === "" ? admin.upstreams.checked(when) : admin.upstreams.checkFailed(when, problem),
    ...(missingModels.length === 0 ? [] : [admin.upstreams.missing(missingModels.join(", "))]),
  ];
  return <small className={says.length > 1 || problem !== "" ? "wrong" : "soft"}>{says.join(" ")}</small>;
}

interface UpstreamOriginParts {
  readonly family: string;
  readonly object: SettingsObject | undefined;
}

/** What runs inside the gateway serves without being set where nothing else is there. */
function UpstreamOrigin({ family, object }: UpstreamOriginParts): ReactNode {
  if (family === BUILT_IN && object?.source === "environment")
    return <span className="tag">{objectWords.builtIn}</span>;
  return <Origin object={object} />;
}

interface ActionsParts {
  readonly upstream: Upstream;
  readonly object: SettingsObject | undefined;
}

function Actions({ upstream, object }: ActionsParts): ReactNode {
  const { id, health } = upstream;
  const test = useMutation({ mutationFn: () => call(testUpstream, { id }), onSuccess: () => forget(listUpstreams) });
  const isDrained = health === "drained";
  const undrain = useMutation({
    mutationFn: () => call(undrainUpstream, { id }),
    onSuccess: () => forget(listUpstreams),
  });
  const actions = [
    { name: objectWords.test, isBusy: test.isPending, act: () => test.mutate() },
    isDrained
      ? { name: objectWords.undrain, isBusy: undrain.isPending, act: () => undrain.mutate() }
      : {
          name: objectWords.drain,
          opens: (close: () => void) => <DrainUpstream upstream={upstream} onClose={close} />,
        },
    ...objectActions(object, (one, close) => <UpstreamForm object={one} onClose={close} />),
  ];
  return (
    <RowActions actions={actions}>
      {test.data !== undefined && (
        <small role="status">
          {objectWords.results[test.data.result]} {test.data.problem}
        </small>
      )}
      {test.error !== null && <Problem error={test.error} what={objectWords.testFailed} />}
      {undrain.error !== null && <Problem error={undrain.error} what={objectWords.drainFailed} />}
    </RowActions>
  );
}

interface WhyParts {
  readonly upstream: Upstream;
  /** True where other nodes may have ejected what this one has not. */
  readonly isOneOfMany: boolean;
}

function Why({ upstream: { id, ejections }, isOneOfMany }: WhyParts): ReactNode {
  const { isReader } = useSignedIn();
  const reset = useMutation({
    mutationFn: () => call(resetUpstream, { id }),
    onSuccess: () => forget(listUpstreams),
  });
  if (ejections.length === 0) return "";
  return (
    <span className="stack">
      {ejections.map(({ model, cause, coolingMs, nodeId }) => (
        <span key={`${nodeId} ${model} ${cause}`}>
          {model === "" ? "" : `${model}: `}
          {admin.upstreams.causes[cause]}
          {coolingMs > 0n && <small className="soft"> {admin.upstreams.back(milliseconds(coolingMs))}</small>}
          {isOneOfMany && <small className="soft"> {admin.upstreams.at(nodeId)}</small>}
        </span>
      ))}
      {!isReader && (
        <span>
          <button className="button small" type="button" disabled={reset.isPending} onClick={() => reset.mutate()}>
            {admin.upstreams.reset}
          </button>
        </span>
      )}
      {reset.error !== null && <Problem error={reset.error} what={admin.upstreams.resetFailed} />}
    </span>
  );
}
