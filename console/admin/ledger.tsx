/** The proof of the ledger, made when it is asked for. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { verifyLedger, type VerifyLedgerResponse } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { count, dayText } from "../format.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";

export function Ledger(): ReactNode {
  const prove = useMutation({ mutationFn: () => call(verifyLedger, {}) });
  return (
    <Page
      title={words.pages.ledger}
      about={admin.ledger.about}
      actions={
        <button className="button main" type="button" disabled={prove.isPending} onClick={() => prove.mutate()}>
          {prove.isPending ? admin.ledger.proving : admin.ledger.prove}
        </button>
      }
    >
      <p className="soft">{admin.ledger.takes}</p>
      {prove.error !== null && <Problem error={prove.error} what={admin.ledger.failed} />}
      {prove.data !== undefined && <Proof proof={prove.data} />}
    </Page>
  );
}

function Proof({ proof }: { readonly proof: VerifyLedgerResponse }): ReactNode {
  const { holds, problems, accountCount, transferCount, openHoldCount, archivedTransferCount, archivedBefore } = proof;
  const figures = [
    [admin.ledger.accounts, accountCount],
    [admin.ledger.transfers, transferCount],
    [admin.ledger.open, openHoldCount],
  ] as const;
  return (
    <>
      <div className={holds ? "verdict good" : "verdict bad"} role="status">
        {holds ? admin.ledger.holds : admin.ledger.broken}
      </div>
      {problems.map((problem) => (
        <p key={problem} className="notice bad">
          {problem}
        </p>
      ))}
      {archivedBefore !== undefined && (
        <p className="soft">{admin.ledger.archived(count(archivedTransferCount), dayText(archivedBefore))}</p>
      )}
      <dl className="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="figure">{count(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
