/** The browser and the system that a user agent names. */

/** The first one that is found counts: most browsers also name those that they are made of. */
const BROWSERS = [
  ["Edge", /\bEdg(?:A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:HeadlessChrome|Chrome|CriOS)\//],
  ["Safari", /\bVersion\/\S+.*\bSafari\//],
] as const;
const SYSTEMS = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac(?:intosh| OS X)\b/],
  ["Linux", /\bLinux\b/],
] as const;

export interface Device {
  readonly browser: string;
  readonly system: string;
}

/** Undefined where the user agent is none of a browser that is known here. */
export function deviceOf(userAgent: string): Device | undefined {
  const [browser] = BROWSERS.find(([, sign]) => sign.test(userAgent)) ?? [];
  const [system] = SYSTEMS.find(([, sign]) => sign.test(userAgent)) ?? [];
  return browser === undefined || system === undefined ? undefined : { browser, system };
}
