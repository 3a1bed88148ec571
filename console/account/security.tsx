/** What an account demands of its members before they use it. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { getAccountSecurity, updateAccountSecurity } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useSignedIn } from "../shell/session.ts";

export function AccountSecurity({ accountId }: { readonly accountId: string }): ReactNode {
  const { account, isReader } = useSignedIn();
  const [isChanging, setChanging] = useState(false);
  const security = useQuery(ask(getAccountSecurity, { accountId }, account));
  const isRequired = security.data?.security?.requiresSecondFactor === true;
  const change = async (): Promise<void> => {
    await call(updateAccountSecurity, { accountId, requiresSecondFactor: !isRequired }, { account });
    await forget(getAccountSecurity);
  };
  const go = isRequired ? say.factorFree : say.factorRequire;
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{say.security}</h2>
        {!isReader && security.data !== undefined && (
          <button className="button" type="button" onClick={() => setChanging(true)}>
            {go}
          </button>
        )}
      </div>
      <Loaded of={security} what={say.security} height={40}>
        {() => <p>{isRequired ? say.factorOn : say.factorOff}</p>}
      </Loaded>
      {isChanging && (
        <Confirm title={`${go}?`} go={go} failed={say.failed} act={change} onClose={() => setChanging(false)}>
          <p>{isRequired ? say.factorFreeWill : say.factorWill}</p>
        </Confirm>
      )}
    </section>
  );
}
