/** Whether the network is there, and whether the gateway answers: what asks it and what tells of it look here. */
import { onlineManager } from "@tanstack/react-query";

/** Whether what was sent last got any answer at all. */
let isReached = true;
const listeners = new Set<() => void>();

/** Takes down whether the gateway answered. */
export function noteReach(didAnswer: boolean): void {
  if (didAnswer === isReached) return;
  isReached = didAnswer;
  for (const listener of listeners) listener();
}

export type Network = "there" | "away" | "unanswered";

export function network(): Network {
  if (!onlineManager.isOnline()) return "away";
  return isReached ? "there" : "unanswered";
}

/** Tells of each change; ends by what it returns. */
export function watchNetwork(changed: () => void): () => void {
  const end = onlineManager.subscribe(changed);
  listeners.add(changed);
  return () => {
    end();
    listeners.delete(changed);
  };
}

/** Resolves once the network is there, at once where it is. */
export async function networkIsThere(): Promise<void> {
  if (onlineManager.isOnline()) return;
  await new Promise<void>((resolve) => {
    const end = onlineManager.subscribe((isOnline) => {
      if (!isOnline) return;
      end();
      resolve();
    });
  });
}

// The browser tells of changes alone: what went before somebody listened is read.
onlineManager.setEventListener((setOnline) => {
  const tell = (): void => setOnline(navigator.onLine);
  tell();
  window.addEventListener("online", tell);
  window.addEventListener("offline", tell);
  return () => {
    window.removeEventListener("online", tell);
    window.removeEventListener("offline", tell);
  };
});
