/** The recovery codes, which are shown this once. */
import type { ReactNode } from "react";
import { meWords } from "../copy/en-me.ts";
import { ShownOnce } from "../parts/shown-once.tsx";

const said = meWords.factor;

export interface RecoveryCodesParts {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function RecoveryCodes({ codes, onClose }: RecoveryCodesParts): ReactNode {
  return (
    <ShownOnce
      title={said.codesTitle}
      about={said.codesOnce}
      text={codes.join("\n")}
      what={said.codes}
      done={said.done}
      onClose={onClose}
    />
  );
}
