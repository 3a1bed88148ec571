/** The plans: what each gives to accounts, and how it is changed and applied. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { listObjects } from "../../gen/console/settings_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { objectWords } from "../copy/en-objects.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { limitWords } from "../keys/limit-words.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ApplyPlan } from "./apply-plan.tsx";
import { objectActions, Origin } from "./object-actions.tsx";
import { PlanForm } from "./plan-form.tsx";
import { limitsIn } from "./plan-spec.ts";

export function Plans(): ReactNode {
  const objects = useQuery(ask(listObjects, { kind: "plan" }));
  const { isReader } = useSignedIn();
  const { form } = useSearch({ from: "/admin/plans" });
  const navigate = useNavigate({ from: "/admin/plans" });
  const open = (isOpen: boolean): void =>
    void navigate({ search: (before) => ({ ...before, form: isOpen ? "plan" : undefined }), replace: !isOpen });
  const add = (
    <button className="button main" type="button" onClick={() => open(true)}>
      {say.add}
    </button>
  );
  const columns = isReader ? COLUMNS : [...COLUMNS, ACTIONS];
  return (
    <Page title={words.pages.plans} about={say.plansAbout} actions={isReader ? undefined : add}>
      {form === "plan" && <PlanForm object={undefined} onClose={() => open(false)} />}
      <Loaded of={objects} what={words.pages.plans}>
        {(found) =>
          found.objects.length === 0 ? (
            <Empty title={say.emptyTitle} about={say.emptyAbout} />
          ) : (
            <Table
              label={words.pages.plans}
              columns={columns}
              rows={found.objects}
              keyOf={({ name, source }) => `${name} ${source}`}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<SettingsObject>[] = [
  { name: say.name, cell: ({ name }) => <strong>{name}</strong> },
  { name: say.limits, cell: ({ plan }) => (plan === undefined ? say.inFile : valuesOf(plan)), isExtra: true },
  { name: objectWords.origin, cell: (object) => <Origin object={object} />, isExtra: true },
];

function valuesOf(plan: NonNullable<SettingsObject["plan"]>): string {
  return limitWords(limitsIn(plan)).join(", ") || say.nothing;
}

const ACTIONS = actionsColumn<SettingsObject>(objectWords.actions, (object) => (
  <RowActions
    actions={[
      ...(object.problem === ""
        ? [{ name: say.apply, opens: (close: () => void) => <ApplyPlan plan={object.name} onClose={close} /> }]
        : []),
      ...objectActions(object, (one, close) => <PlanForm object={one} onClose={close} />),
    ]}
  />
));
