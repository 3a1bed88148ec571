/** The budgets and limits of a member, which hold for the playground and the member's keys together. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { getAccountPlan } from "../../gen/console/account_service.js";
import {
  getMemberLimits,
  type GetMemberLimitsResponse,
  updateMemberLimits,
} from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { memberWords } from "../copy/en-members.ts";
import { planWords } from "../copy/en-plans.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { LimitFields, type LimitHints, limitHints } from "../parts/limit-fields.tsx";
import { amountsOf, areRight, changedLimits, NO_LIMITS, typedLimits } from "../parts/limit-form.ts";
import { AllLoaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";

export interface MemberLimitsParts {
  readonly userId: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function MemberLimits({ userId, name, onClose }: MemberLimitsParts): ReactNode {
  const { account, isOperator } = useSignedIn();
  const limits = useQuery(ask(getMemberLimits, { accountId: account, userId }, account));
  const plan = useQuery(ask(getAccountPlan, { id: account }, account));
  return (
    <Dialog title={memberWords.limitsTitle(name)} onClose={onClose}>
      <p className="soft">{memberWords.limitsWill}</p>
      <AllLoaded of={[limits, plan]} what={memberWords.limits} height={200}>
        {(found, has) => (
          <Form
            userId={userId}
            limits={found}
            hints={isOperator ? {} : limitHints(has.plan?.members, planWords.atMost)}
            onClose={onClose}
          />
        )}
      </AllLoaded>
    </Dialog>
  );
}

interface FormParts {
  readonly userId: string;
  readonly limits: GetMemberLimitsResponse;
  readonly hints: LimitHints;
  readonly onClose: () => void;
}

function Form({ userId, limits: { settings, etag }, hints, onClose }: FormParts): ReactNode {
  const { account } = useSignedIn();
  const [before] = useState(() => (settings === undefined ? NO_LIMITS : typedLimits(settings)));
  const [typed, setTyped] = useState(before);
  const large = useLargeAmounts(amountsOf(typed, before));
  const change = useAct(async () => {
    const { settings: changed, mask } = changedLimits(before, typed);
    if (mask === "") return;
    const asked = { accountId: account, userId, settings: changed, updateMask: mask, etag };
    await call(updateMemberLimits, asked, { account });
    large.keep();
    await forget(getMemberLimits);
  }, onClose);
  const isWrong = !areRight(typed) || large.isOpen;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWrong) change.run();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <LimitFields typed={typed} hints={hints} onType={(changed) => setTyped({ ...typed, ...changed })} />
      {large.question}
      {change.error !== null && <Problem error={change.error} what={memberWords.limitsFailed} />}
      <DialogFoot onCancel={onClose} disabled={change.isPending || isWrong}>
        {words.form.save}
      </DialogFoot>
    </form>
  );
}
