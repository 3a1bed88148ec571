/** Is all well? What needs the operator stands first, with what to do. */
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listNodes, type Node } from "../../gen/console/node_service.js";
import { listPayments, type ListPaymentsResponse } from "../../gen/console/payment_service.js";
import { listObjects } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { listUpstreams, type Upstream, type UpstreamHealth } from "../../gen/console/upstream_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { count } from "../format.ts";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";

const AGAIN_MS = 5_000;
/** Payments come by minutes, and wait for days. */
const PAYMENTS_AGAIN_MS = 60_000;
const PAYMENTS_MAX = 100;
/** After so long others may take a node for dead. */
const SILENT_MS = 15_000n;

interface Need {
  readonly what: string;
  readonly todo: string;
  readonly to: NonNullable<LinkProps["to"]>;
}

/** Requests go there. One that was not tested yet has done nothing wrong. */
const IS_WELL: ReadonlySet<UpstreamHealth> = new Set(["healthy", "untested"]);

export function Health(): ReactNode {
  const upstreams = useQuery({ ...ask(listUpstreams, {}), refetchInterval: AGAIN_MS });
  const nodes = useQuery({ ...ask(listNodes, {}), refetchInterval: AGAIN_MS });
  const payments = useQuery({
    ...ask(listPayments, { attention: true, pageSize: PAYMENTS_MAX }),
    refetchInterval: PAYMENTS_AGAIN_MS,
  });
  const objects = useQuery({ ...ask(listObjects, {}), refetchInterval: AGAIN_MS });
  return (
    <Page title={words.pages.health} about={admin.health.about}>
      <AllLoaded of={[upstreams, nodes, payments, objects]} what={words.pages.health}>
        {(all, serving, due, said) => (
          <State upstreams={all.upstreams} nodes={serving.nodes} payments={due} objects={said.objects} />
        )}
      </AllLoaded>
    </Page>
  );
}

interface StateParts {
  readonly upstreams: readonly Upstream[];
  readonly nodes: readonly Node[];
  /** Those that need the operator. */
  readonly payments: ListPaymentsResponse;
  readonly objects: readonly SettingsObject[];
}

function State({ upstreams, nodes, payments, objects }: StateParts): ReactNode {
  const modelCount = new Set(upstreams.flatMap(({ models }) => models)).size;
  const needs = [
    ...upstreamNeeds(upstreams),
    ...nodeNeeds(nodes),
    ...modelNeeds(modelCount),
    ...paymentNeeds(payments),
    ...objectNeeds(objects),
  ];
  const healthy = upstreams.filter(({ health }) => IS_WELL.has(health)).length;
  const beating = nodes.filter(({ beatAgeMs }) => beatAgeMs < SILENT_MS).length;
  const running = upstreams.reduce((sum, { running }) => sum + running, 0n);
  return (
    <>
      <div className={needs.length === 0 ? "verdict good" : "verdict bad"} role="status">
        {needs.length === 0 ? admin.health.well : admin.health.needs(needs.length)}
      </div>
      {needs.map(({ what, todo, to }) => (
        <div key={what} className="notice warn stack">
          <strong>{what}</strong>
          <span>
            {todo} <Link to={to}>{words.notFound.look}</Link>
          </span>
        </div>
      ))}
      <dl className="figures">
        <Figure name={admin.health.upstreams} text={admin.health.of(healthy, upstreams.length)} />
        <Figure name={admin.health.nodes} text={admin.health.of(beating, nodes.length)} />
        <Figure name={admin.health.models} text={count(modelCount)} />
        <Figure name={admin.health.running} text={count(running)} />
      </dl>
    </>
  );
}

function Figure({ name, text }: { readonly name: string; readonly text: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="figure">{text}</dd>
    </div>
  );
}

function upstreamNeeds(upstreams: readonly Upstream[]): readonly Need[] {
  const warned = upstreams.flatMap(({ id, warnings }) =>
    warnings.map(
      (warning) => ({ what: `${id}: ${warning}`, todo: admin.health.contextDo, to: "/admin/upstreams" }) as const,
    ),
  );
  const aside = upstreams
    .filter(({ health, ejections }) => !IS_WELL.has(health) || ejections.length > 0)
    .map(({ id, health }): Need =>
      health === "refused"
        ? { what: admin.health.upstreamRefused(id), todo: admin.health.upstreamRefusedDo, to: "/admin/upstreams" }
        : { what: admin.health.upstreamAside(id), todo: admin.health.upstreamAsideDo, to: "/admin/upstreams" },
    );
  return [...aside, ...warned];
}

function nodeNeeds(nodes: readonly Node[]): readonly Need[] {
  const to = "/admin/nodes";
  const silent = nodes.filter(({ beatAgeMs }) => beatAgeMs >= SILENT_MS);
  const live = nodes.filter(({ beatAgeMs }) => beatAgeMs < SILENT_MS);
  const differ = (of: (node: Node) => string): boolean => new Set(live.map(of)).size > 1;
  return [
    ...silent.map(({ id }) => ({ what: admin.health.nodeSilent(id), todo: admin.health.nodeSilentDo, to }) as const),
    ...(differ(({ settingsVersion }) => settingsVersion)
      ? [{ what: admin.health.nodesDiffer, todo: admin.health.nodesDifferDo, to } as const]
      : []),
    ...(differ(({ version }) => version)
      ? [{ what: admin.health.nodesVersions, todo: admin.health.nodesVersionsDo, to } as const]
      : []),
  ];
}

function modelNeeds(modelCount: number): readonly Need[] {
  return modelCount > 0 ? [] : [{ what: admin.health.noModels, todo: admin.health.noModelsDo, to: "/models" }];
}

/** The first objects of the settings that this node does not use. */
function objectNeeds(objects: readonly SettingsObject[]): readonly Need[] {
  return objects
    .filter(({ problem }) => problem !== "")
    .map(({ kind, name, problem }) => ({
      what: admin.health.objectAside(kind, name, problem),
      todo: admin.health.objectAsideDo,
      to: kind === "upstream" ? "/admin/upstreams" : "/admin/models",
    }));
}

function paymentNeeds({ payments, nextPageToken }: ListPaymentsResponse): readonly Need[] {
  if (payments.length === 0) return [];
  const what = admin.health.payments(payments.length, nextPageToken !== "");
  return [{ what, todo: admin.health.paymentsDo, to: "/admin/payments" }];
}
