/** What stands in place of a page where a second factor is required that the person does not have yet. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";

export function FactorNeeded(): ReactNode {
  return (
    <div className="empty">
      <h1>{words.factor.title}</h1>
      <p>{words.factor.about}</p>
      <Link to="/me" className="button main">
        {words.factor.go}
      </Link>
    </div>
  );
}
