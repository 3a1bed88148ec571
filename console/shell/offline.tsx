/** Says that the network or the gateway is away. What is shown stays, and is asked anew when it is back. */
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { getSession } from "../../gen/console/identity_service.js";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { network, watchNetwork } from "../api/network.ts";

const AGAIN_MS = 3_000;

export function Offline(): ReactNode {
  const now = useSyncExternalStore(watchNetwork, network);
  useEffect(() => {
    if (now !== "unanswered") return undefined;
    // Who is signed in can be asked at any time, also where the page itself asks nothing.
    const timer = setInterval(() => void forget(getSession), AGAIN_MS);
    return () => clearInterval(timer);
  }, [now]);
  return (
    <div role="status" aria-live="polite">
      {now !== "there" && <div className="offline">{words.network[now]}</div>}
    </div>
  );
}
