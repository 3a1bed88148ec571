/** Says that the network is away. What is shown stays, and is asked anew when it is back. */
import { onlineManager } from "@tanstack/react-query";
import { type ReactNode, useSyncExternalStore } from "react";
import { words } from "../copy/en.ts";

export function Offline(): ReactNode {
  const isOnline = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  );
  return (
    <div role="status" aria-live="polite">
      {!isOnline && <div className="offline">{words.offline}</div>}
    </div>
  );
}
