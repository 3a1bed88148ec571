/** The second factor in a form: a passkey where the person has one here, and the digits or a recovery code. */
import { type ReactNode, useEffect, useRef } from "react";
import { canUse, answerByPasskey } from "../api/passkeys.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { ActButton } from "./act-button.tsx";
import { CodeField } from "./code-field.tsx";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

export interface SecondStepParts {
  /** Asks the gateway what to ask the browser for; empty where the person has no passkey. */
  readonly begin: () => Promise<string>;
  /** Sends the passkey's answer. */
  readonly onAnswer: (passkey: string) => void;
  readonly isBusy: boolean;
}

export function SecondStep({ begin, onAnswer, isBusy }: SecondStepParts): ReactNode {
  /** What no answer was given to yet: each works once. */
  const fresh = useRef<string>(undefined);
  const asking = useAct(begin, (options) => void (fresh.current = options));
  const answering = useAct(async () => {
    const options = fresh.current ?? (await begin());
    fresh.current = undefined;
    return answerByPasskey(options);
  }, onAnswer);
  const isBegun = useRef(false);
  const { run } = asking;
  useEffect(() => {
    if (!isBegun.current) run();
    isBegun.current = true;
  }, [run]);
  if (asking.isIdle || asking.isPending) return <Waiting />;
  if (asking.data === undefined || !canUse(asking.data)) return <CodeField />;
  return (
    <>
      <ActButton className="button" disabled={isBusy || answering.isPending} onAct={answering.run} autoFocus>
        {words.signIn.passkey}
      </ActButton>
      {answering.error !== null && <Problem error={answering.error} what={words.signIn.passkeyFailed} />}
      <CodeField autoFocus={false} />
    </>
  );
}
