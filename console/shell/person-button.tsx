/** Who is signed in. */
import { lazy, type ReactNode } from "react";
import { words } from "../copy/en.ts";
import { LateMenu } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";
import { late } from "../parts/late.ts";

const PersonMenu = lazy(late(async () => ({ default: (await import("./person-menu.tsx")).PersonMenu })));

export function PersonButton(): ReactNode {
  const { session } = useSignedIn();
  const { name = "", email = "" } = session.user ?? {};
  return (
    <LateMenu
      className="button quiet switcher"
      face={
        <>
          <span className="initial round" aria-hidden="true">
            {(name || email || "?").slice(0, 1).toUpperCase()}
          </span>
          <span className="grow">{name || email}</span>
          <span className="hidden-text">{words.shell.person}</span>
        </>
      }
      menu={(parts) => <PersonMenu {...parts} />}
    />
  );
}
