/** The first steps of a gateway, which only operators load. */
import { useLocation } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { late } from "../parts/late.ts";
import { useSignedIn } from "../shell/session.ts";
import { isFollowing } from "./following.ts";

const FirstSteps = lazy(late(async () => ({ default: (await import("./first-steps.tsx")).FirstSteps })));
const NextStep = lazy(late(async () => ({ default: (await import("./first-steps.tsx")).NextStep })));

/** The list of all steps. */
export function LateFirstSteps(): ReactNode {
  const { isOperator } = useSignedIn();
  if (!isOperator) return null;
  return (
    <Suspense>
      <FirstSteps />
    </Suspense>
  );
}

/** The next step, on every page without the list, while the operator follows it. */
export function LateNextStep(): ReactNode {
  const { isOperator } = useSignedIn();
  const { pathname } = useLocation();
  if (!isOperator || !isFollowing()) return null;
  return (
    <Suspense>
      <NextStep key={pathname} />
    </Suspense>
  );
}
