/** Parts of the program that are loaded when they are needed first. */
import { networkIsThere } from "../api/network.ts";

const AGAIN_MS = 2_000;
const TRIES = 3;
/** What this tab was loaded anew for, so that it is not done twice. */
const LOADED_ANEW = "tollgate-loaded-anew";

/**
 * Loads a part of the program, and waits for it where the network or the gateway is away: what the person sees stays.
 * After an upgrade of the gateway the parts that a tab has not loaded yet have other names: then the page is loaded
 * anew. Rejects where the gateway is there, and has the part no more than before.
 */
export function late<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    for (let refused = 0; ;) {
      try {
        return await load();
      } catch (error) {
        if (await isServed()) refused++;
        if (refused >= TRIES) return loadAnew(error);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      await networkIsThere();
    }
  };
}

/** Whether the gateway gives out the console now. */
async function isServed(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

async function loadAnew(error: unknown): Promise<never> {
  const why = String(error);
  if (sessionStorage.getItem(LOADED_ANEW) === why) throw error;
  sessionStorage.setItem(LOADED_ANEW, why);
  window.location.reload();
  return new Promise(() => undefined);
}
