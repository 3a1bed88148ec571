/** What an operator can do with an object of the database, and by what another one is set. */
import type { ReactNode } from "react";
import { deleteObject } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { call } from "../api/client.ts";
import { aliasWords, objectWords as say, renameWords } from "../copy/en-objects.ts";
import { planWords } from "../copy/en-plans.ts";
import { Confirm } from "../parts/confirm.tsx";
import type { RowAction } from "../parts/row-actions.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { useReferring } from "./references.ts";
import { RenameObject } from "./rename-object.tsx";

/** Where an object comes from, and why this node does not use it. */
export function Origin({ object }: { readonly object: SettingsObject | undefined }): ReactNode {
  if (object === undefined) return "";
  return (
    <span className="stack">
      <span className="tag">{say.origins[object.source]}</span>
      {object.problem !== "" && <small className="wrong">{say.aside(object.problem)}</small>}
    </span>
  );
}

/** Of an object of the database; none for any other. */
export function objectActions(
  object: SettingsObject | undefined,
  change: (object: SettingsObject, close: () => void) => ReactNode,
): readonly RowAction[] {
  if (object?.source !== "database") return [];
  return [
    { name: say.change, opens: (close) => change(object, close) },
    // Accounts name their plan, and a rename would leave them behind. An alias is soon made anew.
    ...(object.kind === "plan" || object.kind === "alias"
      ? []
      : [{ name: renameWords.rename, opens: (close: () => void) => <RenameObject object={object} onClose={close} /> }]),
    { name: say.delete, isDanger: true, opens: (close) => <Delete object={object} onClose={close} /> },
  ];
}

const DELETE_WILL: Readonly<Record<SettingsObject["kind"], string>> = {
  unspecified: "",
  upstream: say.deleteUpstreamWill,
  model: say.deleteModelWill,
  alias: aliasWords.deleteWill,
  plan: planWords.deleteWill,
  issuer: say.deleteIssuerWill,
  payments: say.deletePaymentsWill,
  metrics: say.deleteMetricsWill,
  prices: say.deletePricesWill,
};

interface DeleteParts {
  readonly object: SettingsObject;
  readonly onClose: () => void;
}

function Delete({ object, onClose }: DeleteParts): ReactNode {
  const { kind, name, etag } = object;
  const referring = useReferring(object) ?? [];
  const act = async (): Promise<void> => {
    await call(deleteObject, { kind, name, etag });
    forgetObjects();
  };
  return (
    <Confirm
      title={say.deleteTitle(name)}
      isBlocked={referring.length > 0}
      go={say.delete}
      failed={say.deleteFailed}
      act={act}
      onClose={onClose}
    >
      {referring.length > 0 && (
        <p className="notice warn">
          {renameWords.usedBy(
            kind,
            referring.map((one) => one.name),
          )}
        </p>
      )}
      <p>{DELETE_WILL[kind]}</p>
    </Confirm>
  );
}
