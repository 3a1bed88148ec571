/** Gives a key a new secret, and lets the old one live on for a while. */
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { getKey, listKeys, rotateKey } from "../../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
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
  const rotate = useMutation({
    mutationFn: () => call(rotateKey, { id: keyShown.id, graceSeconds }, { account }),
    onSuccess: () => forget(getKey, listKeys),
  });
  if (rotate.data !== undefined) return <Secret secret={rotate.data.secret} onClose={onClose} />;
  return (
    <Dialog title={keyWords.rotateTitle} onClose={onClose}>
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
      <DialogFoot onCancel={onClose} disabled={rotate.isPending} onGo={() => rotate.mutate()}>
        {keyWords.rotateGo}
      </DialogFoot>
    </Dialog>
  );
}
