/** Which list the published prices are of: the package that the program has. */
export const PRICE_LIST = {
  /** A test compares it with what package.json has. */
  list: "genai-prices 0.1.8",
  /** When the registry got this version, since the package itself does not say it. */
  date: "2026-09-23",
} as const;
