/** Whether what an account's requests say is kept: what holds and means, its change, and how a person is forgotten. */
import { type ReactNode, useState } from "react";
import type { Account, AccountPlan } from "../../gen/console/account_service.js";
import { useMayChange } from "../account/may-change.ts";
import { contentWords } from "../copy/en-content.ts";
import { type Fact, FactList } from "../parts/fact-list.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ChangeContent } from "./change-content.tsx";
import { EACH_KIB, MIB, TOTAL_MIB } from "./content-form.ts";
import { ErasePerson } from "./erase-person.tsx";

export interface ContentSettingParts {
  readonly account: Account;
  readonly plan: AccountPlan | undefined;
}

export function ContentSetting({ account, plan }: ContentSettingParts): ReactNode {
  const { isOperator } = useSignedIn();
  const mayChange = useMayChange(plan);
  const [doing, setDoing] = useState<"change" | "erase">();
  const content = account.settings?.content;
  const close = (): void => setDoing(undefined);
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{contentWords.setting}</h2>
        <span className="row">
          {isOperator && (
            <button className="button" type="button" onClick={() => setDoing("erase")}>
              {contentWords.erase}
            </button>
          )}
          {mayChange && (
            <button className="button" type="button" onClick={() => setDoing("change")}>
              {contentWords.change}
            </button>
          )}
        </span>
      </div>
      {content?.kept === true ? <Kept {...content} /> : <p>{contentWords.off}</p>}
      {doing === "change" && <ChangeContent account={account} onClose={close} />}
      {doing === "erase" && <ErasePerson accountId={account.id} onClose={close} />}
    </section>
  );
}

interface KeptParts {
  readonly redactions: readonly string[];
  readonly bodyBytesMax: number;
  readonly totalBytesMax: bigint;
}

function Kept({ redactions, bodyBytesMax, totalBytesMax }: KeptParts): ReactNode {
  const each = bodyBytesMax === 0 ? EACH_KIB : Math.ceil(bodyBytesMax / 1_024);
  const all = totalBytesMax === 0n ? TOTAL_MIB : (totalBytesMax + MIB - 1n) / MIB;
  const facts: readonly Fact[] = [
    [contentWords.keptFor, contentWords.keptForDays],
    [contentWords.each, `${each} KiB`],
    [contentWords.all, contentWords.oldestFirst(`${all} MiB`)],
    [contentWords.rules, redactions.length === 0 ? contentWords.noRules : <code>{redactions.join("  ")}</code>],
  ];
  return (
    <>
      <p>{contentWords.on}</p>
      <FactList facts={facts} two />
    </>
  );
}
