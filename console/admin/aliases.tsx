/** The aliases: which model each stands for, and how one is added, changed and deleted. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { applyObjects, listObjects } from "../../gen/console/settings_service.js";
import { call } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { aliasWords as say, objectWords } from "../copy/en-objects.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { FormInUrl } from "../parts/form-in-url.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { forgetObjects } from "./forget-objects.ts";
import { MODEL_NAME } from "./object-names.ts";
import { objectActions, Origin } from "./object-actions.tsx";

export function Aliases(): ReactNode {
  const objects = useQuery(ask(listObjects, { kind: "alias" }));
  const { isReader } = useSignedIn();
  return (
    <section className="stack">
      <h2>{say.title}</h2>
      <p className="soft">{say.about}</p>
      {!isReader && (
        <p>
          <FormInUrl value="alias" label={say.add}>
            {(close) => <AliasForm object={undefined} onClose={close} />}
          </FormInUrl>
        </p>
      )}
      <Loaded of={objects} what={say.title}>
        {(found) =>
          found.objects.length === 0 ? (
            <p className="soft">{say.none}</p>
          ) : (
            <Table
              label={say.title}
              columns={isReader ? COLUMNS : [...COLUMNS, ACTIONS]}
              rows={found.objects}
              keyOf={({ name, source }) => `${name} ${source}`}
            />
          )
        }
      </Loaded>
    </section>
  );
}

const COLUMNS: readonly Column<SettingsObject>[] = [
  { name: say.name, cell: ({ name }) => <strong>{name}</strong> },
  { name: say.model, cell: ({ alias }) => alias?.model ?? "" },
  { name: say.displayName, cell: ({ alias }) => alias?.displayName ?? "", isExtra: true },
  { name: objectWords.origin, cell: (object) => <Origin object={object} />, isExtra: true },
];

const ACTIONS = actionsColumn<SettingsObject>(objectWords.actions, (object) => (
  <RowActions
    actions={objectActions(object, (one, close) => (
      <AliasForm object={one} onClose={close} />
    ))}
  />
));

interface AliasFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

function AliasForm({ object, onClose }: AliasFormParts): ReactNode {
  const [name, setName] = useState(object?.name ?? "");
  const [typed, setTyped] = useState(object?.alias ?? { model: "", displayName: "" });
  const models = useQuery(ask(listObjects, { kind: "model" })).data?.objects ?? [];
  // What an upstream lists is no object, so that no alias can name it.
  const names = [...new Set(models.filter(({ source }) => source !== "upstream").map((model) => model.name))];
  const save = useAct(async () => {
    await call(applyObjects, { changes: [{ set: { name, alias: typed }, etag: object?.etag ?? "new" }] });
    forgetObjects();
  }, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.run();
  };
  return (
    <Dialog title={object === undefined ? say.add : say.change(object.name)} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        {object === undefined && (
          <Field
            label={say.name}
            hint={say.nameRule}
            pattern={MODEL_NAME}
            value={name}
            onChange={({ currentTarget: { value } }) => setName(value)}
            autoFocus
            required
          />
        )}
        <Choice
          label={say.model}
          hint={say.modelRule}
          value={typed.model}
          onChange={({ currentTarget: { value } }) => setTyped({ ...typed, model: value })}
          required
        >
          <option value="" />
          {names.sort().map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </Choice>
        <Field
          label={say.displayName}
          hint={objectWords.displayNameRule}
          maxLength={128}
          value={typed.displayName}
          onChange={({ currentTarget: { value } }) => setTyped({ ...typed, displayName: value })}
        />
        {save.error !== null && <Problem error={save.error} what={objectWords.saveFailed} />}
        <DialogFoot onCancel={onClose} disabled={save.isPending}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
