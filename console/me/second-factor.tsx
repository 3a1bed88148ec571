/** Sets up an authenticator app and removes it, and makes new recovery codes. */
import { type FormEvent, type ReactNode, useState } from "react";
import {
  confirmSecondFactor,
  createRecoveryCodes,
  createSecondFactor,
  type CreateSecondFactorResponse,
  deleteSecondFactor,
  getSession,
  listSessions,
} from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct, useMaking } from "../api/use-act.ts";
import { meWords } from "../copy/en-me.ts";
import { ActButton } from "../parts/act-button.tsx";
import { Code } from "../parts/code.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { textsOf } from "../shell/link-gate.tsx";
import { useSignedIn } from "../shell/session.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";

const said = meWords.factor;

export function SecondFactor(): ReactNode {
  const { session } = useSignedIn();
  const isOn = session.user?.secondFactor === true;
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{said.title}</h2>
        <span className={isOn ? "tag good" : "tag"}>{isOn ? said.on : said.off}</span>
      </div>
      {session.lacksSecondFactor && <p className="notice warn">{said.required}</p>}
      <p className="soft">{said.about}</p>
      {isOn && <p>{said.codesLeft(session.recoveryCodesLeft)}</p>}
      <Actions isOn={isOn} hasApp={session.hasAuthenticatorApp} />
    </section>
  );
}

function Actions({ isOn, hasApp }: { readonly isOn: boolean; readonly hasApp: boolean }): ReactNode {
  const [made, setMade] = useState<CreateSecondFactorResponse>();
  /** None where the person has them from another second factor. */
  const [codes, setCodes] = useState<readonly string[]>([]);
  const [asks, setAsks] = useState<"codes" | "remove">();
  const begin = useAct(() => call(createSecondFactor, {}), setMade);
  const close = (): void => setAsks(undefined);
  const show = (created: readonly string[]): void => {
    setMade(undefined);
    setCodes(created);
  };
  return (
    <>
      <div className="row">
        {/* One button for both, so that the focus comes back to it when the app is set up. */}
        <ActButton
          className={hasApp ? "button danger" : "button"}
          disabled={begin.isPending}
          onAct={hasApp ? () => setAsks("remove") : begin.run}
        >
          {hasApp ? said.remove : said.setUp}
        </ActButton>
        {isOn && (
          <button className="button" type="button" onClick={() => setAsks("codes")}>
            {said.newCodes}
          </button>
        )}
      </div>
      {begin.error !== null && <Problem error={begin.error} what={said.setUpFailed} />}
      {made !== undefined && <SetUp made={made} onCodes={show} onClose={() => setMade(undefined)} />}
      {asks === "codes" && <NewCodes onCodes={show} onClose={close} />}
      {asks === "remove" && <Remove onClose={close} />}
      {codes.length > 0 && <RecoveryCodes codes={codes} onClose={() => setCodes([])} />}
    </>
  );
}

interface CodesParts {
  /** Takes the recovery codes, which are shown this once. */
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

function SetUp({
  made: { secret, uri },
  onCodes,
  onClose,
}: CodesParts & { readonly made: CreateSecondFactorResponse }): ReactNode {
  const confirm = useMaking(async (code: string) => {
    const { recoveryCodes } = await call(confirmSecondFactor, { code });
    onCodes(recoveryCodes);
    await forget(getSession, listSessions);
  }, onClose);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    confirm.run(textsOf(event.currentTarget, ["code"]).code);
  };
  return (
    <Dialog title={said.secretTitle} onClose={confirm.close} isFirm>
      <p>{said.secretAbout}</p>
      <Code text={secret} what={said.secret} />
      <p>
        <a href={uri}>{said.uri}</a>
      </p>
      <form onSubmit={submit}>
        <Field
          label={said.code}
          hint={said.codeRule}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          autoFocus
          required
        />
        <p className="soft">{said.confirmWill}</p>
        {confirm.error !== null && <Problem error={confirm.error} what={said.confirmFailed} />}
        <DialogFoot onCancel={confirm.close} disabled={confirm.isPending}>
          {said.confirm}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

function NewCodes({ onCodes, onClose }: CodesParts): ReactNode {
  const create = async (): Promise<void> => {
    const { recoveryCodes } = await call(createRecoveryCodes, {});
    onCodes(recoveryCodes);
    await forget(getSession);
  };
  return (
    <Confirm
      title={said.newCodesTitle}
      go={said.newCodesGo}
      failed={said.newCodesFailed}
      act={create}
      onClose={onClose}
    >
      <p>{said.newCodesWill}</p>
    </Confirm>
  );
}

function Remove({ onClose }: { readonly onClose: () => void }): ReactNode {
  const remove = async (): Promise<void> => {
    await call(deleteSecondFactor, {});
    await forget(getSession);
  };
  return (
    <Confirm title={said.removeTitle} go={said.removeGo} failed={said.removeFailed} act={remove} onClose={onClose}>
      <p>{said.removeWill}</p>
    </Confirm>
  );
}
