/** Gives all accounts of a plan its values, after it showed how many change, and in what. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import {
  applyPlan,
  getAccount,
  getPlanEffect,
  type GetPlanEffectResponse,
  listAccounts,
} from "../../gen/console/account_service.js";
import { call, Refusal } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { count } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";

interface ApplyPlanParts {
  readonly plan: string;
  readonly onClose: () => void;
}

export function ApplyPlan({ plan, onClose }: ApplyPlanParts): ReactNode {
  const effect = useQuery({ ...ask(getPlanEffect, { plan }), staleTime: 0 });
  const { etag = "", changedCount = 0n } = effect.data ?? {};
  const apply = useAct(async () => {
    try {
      await applyAll(plan, etag);
    } finally {
      await forget(getAccount, listAccounts, getPlanEffect);
    }
  }, onClose);
  const isMoved = apply.error instanceof Refusal && apply.error.reason === "ETAG_STALE";
  return (
    <Dialog title={say.applyTitle(plan)} onClose={onClose}>
      <div className="stack">
        <Loaded of={effect} what={say.applyFields} height={80}>
          {(found) => <Effect of={found} />}
        </Loaded>
        {apply.error !== null && <Problem error={apply.error} what={isMoved ? say.applyMoved : say.applyFailed} />}
        <DialogFoot
          onCancel={onClose}
          disabled={apply.isPending || effect.isFetching || changedCount === 0n}
          danger
          onGo={() => apply.run()}
        >
          {say.applyGo(count(changedCount))}
        </DialogFoot>
      </div>
    </Dialog>
  );
}

/** One call changes some hundred accounts, and says how many are left. */
async function applyAll(plan: string, etag: string): Promise<void> {
  const { remainingCount, etag: next } = await call(applyPlan, { plan, etag });
  if (remainingCount > 0n) await applyAll(plan, next);
}

function Effect({ of }: { readonly of: GetPlanEffectResponse }): ReactNode {
  const { accountCount, changedCount, fields } = of;
  return (
    <div className="notice stack" role="status">
      <strong>{say.applyCount(count(accountCount), count(changedCount))}</strong>
      {changedCount === 0n ? (
        <span>{say.applyNone}</span>
      ) : (
        <>
          <dl className="facts two">
            {fields.map(({ field, accountCount: accounts }) => (
              <div key={field}>
                <dt>{say.fields[field] ?? field}</dt>
                <dd>{say.applyField(accounts)}</dd>
              </div>
            ))}
          </dl>
          <span>{say.applyWill}</span>
        </>
      )}
    </div>
  );
}
