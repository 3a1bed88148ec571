/** Ends a key for good, after it said what that does. */
import type { ReactNode } from "react";
import { getKey, listKeys, revokeKey } from "../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import type { KeyDialogParts } from "./change-key.tsx";

export function RevokeKey({ keyShown, onClose }: KeyDialogParts): ReactNode {
  const { account } = useSignedIn();
  const revoke = useAct(async () => {
    await call(revokeKey, { id: keyShown.id }, { account });
    // Not waited for: the page takes its buttons away once the key is read anew.
    void forget(getKey, listKeys);
  }, onClose);
  return (
    <Dialog title={keyWords.revokeTitle} onClose={onClose}>
      <p>
        <strong>{keyWords.revokeSure(keyShown.settings?.name || keyShown.hint)}</strong>
      </p>
      <p>{keyWords.revokeWill}</p>
      {revoke.error !== null && <Problem error={revoke.error} what={keyWords.revokeFailed} />}
      <DialogFoot onCancel={onClose} disabled={revoke.isPending} danger onGo={() => revoke.run()}>
        {keyWords.revokeGo}
      </DialogFoot>
    </Dialog>
  );
}
