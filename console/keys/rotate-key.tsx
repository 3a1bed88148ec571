/** Gives a key a new secret, and lets the old one live on for a while. */
import { type ReactNode, useState } from "react";
import { getKey, listKeys, rotateKey } from "../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import type { KeyDialogParts } from "./change-key.tsx";
import { Secret } from "./secret.tsx";

const A_DAY_SECONDS = 86_400;

export function RotateKey({ keyShown, onClose }: KeyDialogParts): ReactNode {
  const { account } = useSignedIn();
  const [graceSeconds, setGraceSeconds] = useState(A_DAY_SECONDS);
  const rotate = useMaking(async () => {
    const { secret } = await call(rotateKey, { id: keyShown.id, graceSeconds }, { account });
    void forget(getKey, listKeys);
    return secret;
  }, onClose);
  if (rotate.data !== undefined) return <Secret secret={rotate.data} settings={keyShown.settings} onClose={onClose} />;
  return (
    <Dialog title={keyWords.rotateTitle} onClose={rotate.close}>
      <p>{keyWords.rotateWill}</p>
      <Choice
        label={keyWords.grace}
        value={graceSeconds}
        onChange={({ currentTarget: { value } }) => setGraceSeconds(Number(value))}
      >
        {Object.entries(keyWords.graces).map(([seconds, name]) => (
          <option key={seconds} value={seconds}>
            {name}
          </option>
        ))}
      </Choice>
      {rotate.error !== null && <Problem error={rotate.error} what={keyWords.rotateFailed} />}
      <DialogFoot onCancel={rotate.close} disabled={rotate.isPending} onGo={() => rotate.run()}>
        {keyWords.rotateGo}
      </DialogFoot>
    </Dialog>
  );
}
