/** What a device is called on a person's own page. */
import { meWords } from "../copy/en-me.ts";
import { deviceOf } from "./device.ts";

/** In a person's words; the user agent itself where it is none of a browser that is known here. */
export function deviceName(userAgent: string): string {
  const device = deviceOf(userAgent);
  const { unknown, on } = meWords.sessions;
  return device === undefined ? userAgent.slice(0, 64) || unknown : on(device.browser, device.system);
}
