/** How far a request has come, as a word in its colour. */
import type { ReactNode } from "react";
import type { RequestState } from "../../gen/console/usage_service.js";
import { requestWords } from "../copy/en-requests.ts";

const LOOKS: Readonly<Record<RequestState, string>> = {
  unspecified: "tag",
  held: "tag",
  settled: "tag good",
  voided: "tag warn",
  expired: "tag bad",
  uncharged: "tag warn",
};

export function StateTag({ state }: { readonly state: RequestState }): ReactNode {
  return <span className={LOOKS[state]}>{requestWords.states[state]}</span>;
}
