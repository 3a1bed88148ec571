/** The days that a page shows, kept in its URL. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { DAYS, type Days } from "../search.ts";

export function Range({ days }: { readonly days: Days }): ReactNode {
  return (
    <nav className="segments" aria-label={words.range.label}>
      {DAYS.map((each) => (
        <Link
          key={each}
          to="."
          search={(before) => ({ ...before, days: each })}
          activeProps={{ "aria-current": undefined }}
          aria-current={each === days ? "true" : undefined}
          replace
        >
          {words.range.days(each)}
        </Link>
      ))}
    </nav>
  );
}
