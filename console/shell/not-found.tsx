/** What stands at an address that is no page. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";

export function NotFound(): ReactNode {
  return (
    <div className="empty">
      <h1>{words.notFound.title}</h1>
      <p>{words.notFound.about}</p>
      <Link to="/" className="button main">
        {words.notFound.go}
      </Link>
    </div>
  );
}
