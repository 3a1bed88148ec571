/** The settings of an account for its owners and admins: its plan, and what they may change within it. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { getAccount, getAccountPlan } from "../../gen/console/account_service.js";
import { AccountLimits } from "../admin/account-limits.tsx";
import { ContentSetting } from "../admin/content.tsx";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { PlanFacts } from "./plan-facts.tsx";
import { AccountSecurity } from "./security.tsx";

export function AccountSettingsPage(): ReactNode {
  const { account: id } = useSignedIn();
  const account = useQuery(ask(getAccount, { id }, id));
  const plan = useQuery(ask(getAccountPlan, { id }, id));
  return (
    <Page title={words.pages.account} about={say.settingsAbout}>
      <AllLoaded of={[account, plan]} what={words.pages.account}>
        {(found, has) =>
          found.account !== undefined && (
            <>
              <PlanFacts plan={has.plan} />
              <AccountLimits account={found.account} plan={has.plan} />
              <ContentSetting account={found.account} plan={has.plan} />
              <AccountSecurity accountId={id} />
            </>
          )
        }
      </AllLoaded>
    </Page>
  );
}
