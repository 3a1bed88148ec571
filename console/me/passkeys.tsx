/** A person's passkeys: adds, renames and removes them. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import {
  beginPasskey,
  createPasskey,
  deletePasskey,
  getSession,
  listPasskeys,
  listSessions,
  type Passkey,
  updatePasskey,
} from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { makePasskey } from "../api/passkeys.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct, useMaking } from "../api/use-act.ts";
import { meWords } from "../copy/en-me.ts";
import { clockTime } from "../format.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { textsOf } from "../shell/link-gate.tsx";
import { useSignedIn } from "../shell/session.ts";
import { deviceName } from "./device-name.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";

const said = meWords.passkeys;

export function Passkeys(): ReactNode {
  const { passkeyOrigin } = useSignedIn().session;
  const { data } = useQuery(ask(listPasskeys, {}));
  const [isAdding, setAdding] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const isHere = passkeyOrigin === window.location.origin;
  return (
    <section className="card stack">
      <h2>{said.title}</h2>
      <p className="soft">{said.about}</p>
      {data !== undefined && data.passkeys.length > 0 && (
        <Table label={said.title} columns={COLUMNS} rows={data.passkeys} keyOf={({ id }) => id} />
      )}
      {!isHere && <Elsewhere origin={passkeyOrigin} />}
      {isHere && (
        <div className="row">
          <button className="button" type="button" onClick={() => setAdding(true)}>
            {said.add}
          </button>
        </div>
      )}
      {isAdding && <Add onCodes={setCodes} onClose={() => setAdding(false)} />}
      {codes.length > 0 && <RecoveryCodes codes={codes} onClose={() => setCodes([])} />}
    </section>
  );
}

function Elsewhere({ origin }: { readonly origin: string }): ReactNode {
  if (origin === "") return <p>{said.off}</p>;
  return (
    <p>
      {said.elsewhere} <a href={`${origin}/console/me`}>{origin}</a>
    </p>
  );
}

const COLUMNS: readonly Column<Passkey>[] = [
  {
    name: said.name,
    cell: ({ name, host }) => (
      <>
        {name} {host !== window.location.hostname && <span className="tag">{said.otherHost(host)}</span>}
      </>
    ),
  },
  { name: said.used, cell: ({ useTime }) => (useTime === undefined ? said.never : clockTime(useTime)), isNumber: true },
  {
    name: said.added,
    cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)),
    isNumber: true,
    isExtra: true,
  },
  actionsColumn(said.actions, (passkey) => (
    <RowActions
      actions={[
        { name: said.rename, opens: (close) => <Rename passkey={passkey} onClose={close} /> },
        { name: said.remove, isDanger: true, opens: (close) => <Remove passkey={passkey} onClose={close} /> },
      ]}
    />
  )),
];

interface AddParts {
  /** Takes the recovery codes, which are shown this once. */
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

function Add({ onCodes, onClose }: AddParts): ReactNode {
  const add = useMaking(async (name: string) => {
    const credential = await makePasskey((await call(beginPasskey, {})).options);
    const { recoveryCodes } = await call(createPasskey, { name, credential });
    onCodes(recoveryCodes);
    onClose();
    await forget(getSession, listPasskeys, listSessions);
  }, onClose);
  return (
    <Dialog title={said.addTitle} onClose={add.close} isFirm>
      <NameForm
        name={deviceName(navigator.userAgent)}
        isBusy={add.isPending}
        go={said.addGo}
        onName={add.run}
        onCancel={add.close}
      >
        <p className="soft">{said.addAbout}</p>
        {add.error !== null && <Problem error={add.error} what={said.addFailed} />}
      </NameForm>
    </Dialog>
  );
}

interface PasskeyParts {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}

function Rename({ passkey: { id, name }, onClose }: PasskeyParts): ReactNode {
  const rename = useAct(async (wanted: string) => {
    await call(updatePasskey, { id, name: wanted });
    await forget(listPasskeys);
  }, onClose);
  return (
    <Dialog title={said.renameTitle} onClose={onClose}>
      <NameForm name={name} isBusy={rename.isPending} go={said.renameGo} onName={rename.run} onCancel={onClose}>
        {rename.error !== null && <Problem error={rename.error} what={said.renameFailed} />}
      </NameForm>
    </Dialog>
  );
}

interface NameFormParts {
  /** What stands in the field at first. */
  readonly name: string;
  readonly isBusy: boolean;
  readonly go: string;
  readonly onName: (name: string) => void;
  readonly onCancel: (() => void) | undefined;
  readonly children: ReactNode;
}

function NameForm({ name, isBusy, go, onName, onCancel, children }: NameFormParts): ReactNode {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onName(textsOf(event.currentTarget, ["name"]).name);
  };
  return (
    <form onSubmit={submit}>
      <Field label={said.name} hint={said.nameRule} name="name" defaultValue={name} maxLength={64} autoFocus required />
      {children}
      <DialogFoot onCancel={onCancel} disabled={isBusy}>
        {go}
      </DialogFoot>
    </form>
  );
}

function Remove({ passkey: { id, name }, onClose }: PasskeyParts): ReactNode {
  const remove = async (): Promise<void> => {
    await call(deletePasskey, { id });
    await forget(getSession, listPasskeys);
  };
  return (
    <Confirm title={said.removeTitle} go={said.removeGo} failed={said.removeFailed} act={remove} onClose={onClose}>
      <p>{said.removeWill(name)}</p>
    </Confirm>
  );
}
