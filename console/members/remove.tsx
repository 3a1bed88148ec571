/** Removes somebody from an account or from the gateway, and asks what becomes of the keys that the person made. */
import { type ReactNode, useState } from "react";
import { memberWords } from "../copy/en-members.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Check } from "../parts/field.tsx";

interface RemoveParts {
  readonly title: string;
  /** What it will do. */
  readonly will: string;
  readonly act: (keepKeys: boolean) => Promise<unknown>;
  readonly onClose: () => void;
}

export function Remove({ title, will, act, onClose }: RemoveParts): ReactNode {
  const [keepKeys, setKeepKeys] = useState(false);
  return (
    <Confirm
      title={title}
      go={memberWords.removeGo}
      failed={memberWords.removeFailed}
      act={() => act(keepKeys)}
      onClose={onClose}
    >
      <p>{will}</p>
      <Check
        label={memberWords.keepKeys}
        hint={memberWords.keepKeysHint}
        checked={keepKeys}
        onChange={(event) => setKeepKeys(event.target.checked)}
      />
    </Confirm>
  );
}
