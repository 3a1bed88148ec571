/** Ends a key for good, after it said what that does. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { getKey, listKeys, revokeKey } from "../../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import type { KeyDialogParts } from "./change-key.tsx";

export function RevokeKey({ keyShown, onClose }: KeyDialogParts): ReactNode {
  const { account } = useSignedIn();
  const revoke = useMutation({
    mutationFn: () => call(revokeKey, { id: keyShown.id }, { account }),
    onSuccess: async () => {
      onClose();
      await forget(getKey, listKeys);
    },
  });
  return (
    <Dialog title={keyWords.revokeTitle} onClose={onClose}>
      <p>
        <strong>{keyWords.revokeSure(keyShown.settings?.name || keyShown.hint)}</strong>
      </p>
      <p>{keyWords.revokeWill}</p>
      {revoke.error !== null && <Problem error={revoke.error} what={keyWords.revokeFailed} />}
      <DialogFoot onCancel={onClose} disabled={revoke.isPending} danger onGo={() => revoke.mutate()}>
        {keyWords.revokeGo}
      </DialogFoot>
    </Dialog>
  );
}
