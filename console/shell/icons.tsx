/** The few signs of the console, each one line. They are decoration: words stand beside them. */
import type { ReactNode } from "react";

const PATHS = {
  overview: "M3 13h4v7H3zM10 4h4v16h-4zM17 9h4v11h-4z",
  keys: "M14 10a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM13.5 12l7 7m-3-3 2-2",
  requests: "M4 6h16M4 12h16M4 18h10",
  usage: "M4 18l5-6 4 3 7-9M4 21h16",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  playground: "M7 4l12 8-12 8z",
  billing: "M3 6h18v12H3zM3 10h18M7 15h4",
  docs: "M6 3h9l4 4v14H6zM9 12h7M9 16h7",
  members:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.5-4 3-6 6.500-6s6 2 6.500 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2 .800 3.200 2.500 3.500 5.500",
  health: "M3 12h4l2.500-7 4.500 14 2.500-7H21",
  accounts: "M4 20V8l8-5 8 5v12M9 20v-6h6v6",
  upstreams: "M4 5h16v5H4zM4 14h16v5H4zM8 7.500h.1M8 16.500h.1",
  ledger: "M5 4h14v16H5zM9 4v16M12 9h4M12 13h4",
  nodes: "M12 5a2 2 0 1 0 0-.1M5 19a2 2 0 1 0 0-.1M19 19a2 2 0 1 0 0-.1M12 7v5m0 0-6 5m6-5 6 5",
  audit: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
  alerts: "M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  codes: "M3 7h18v3.500a1.500 1.500 0 0 0 0 3V17H3v-3.500a1.500 1.500 0 0 0 0-3zM14 7v2m0 3v1m0 2v2",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 4.500v5M6.500 14.500v5",
  search: "M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500 21 21",
  menu: "M4 7h16M4 12h16M4 17h16",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.7"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
