/** The first steps of a gateway, which only operators load. */
import { lazy, type ReactNode, Suspense } from "react";
import { late } from "../parts/late.ts";
import { useSignedIn } from "../shell/session.ts";

const FirstSteps = lazy(late(async () => ({ default: (await import("./first-steps.tsx")).FirstSteps })));

export function LateFirstSteps(): ReactNode {
  const { isOperator } = useSignedIn();
  if (!isOperator) return null;
  return (
    <Suspense>
      <FirstSteps />
    </Suspense>
  );
}
