/** Gives an object another name, and tells everything that refers to it, in one revision. */
import { type FormEvent, type ReactNode, useState } from "react";
import { applyObjects } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { call } from "../api/client.ts";
import { useAct } from "../api/use-act.ts";
import { objectWords, renameWords as say } from "../copy/en-objects.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { MODEL_NAME, UPSTREAM_NAME } from "./object-names.ts";
import { renaming, useReferring } from "./references.ts";

export interface RenameObjectParts {
  readonly object: SettingsObject;
  readonly onClose: () => void;
}

export function RenameObject({ object, onClose }: RenameObjectParts): ReactNode {
  const [name, setName] = useState(object.name);
  const referring = useReferring(object);
  const isUpstream = object.kind === "upstream";
  const rename = useAct(async () => {
    await call(applyObjects, { changes: renaming(object, name, referring ?? []) });
    forgetObjects();
  }, onClose);
  const mayGo = name !== object.name && referring !== undefined && !rename.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (mayGo) rename.run();
  };
  return (
    <Dialog title={say.title(object.name)} onClose={onClose} isFirm>
      <form onSubmit={submit}>
        <Field
          label={say.name}
          hint={isUpstream ? objectWords.nameRule : objectWords.modelNameRule}
          name="name"
          pattern={isUpstream ? UPSTREAM_NAME : MODEL_NAME}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          autoFocus
          required
        />
        <p>{say.will}</p>
        {isUpstream && referring !== undefined && <p>{say.upstreamWill(referring.map((model) => model.name))}</p>}
        {!isUpstream && <p>{say.modelWill}</p>}
        {!isUpstream && referring !== undefined && <p>{say.aliasesWill(referring.map((alias) => alias.name))}</p>}
        {object.managedBy !== "" && <p className="notice warn">{say.managed(object.managedBy)}</p>}
        {rename.error !== null && <Problem error={rename.error} what={say.failed} />}
        <DialogFoot onCancel={onClose} disabled={!mayGo}>
          {say.go}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
