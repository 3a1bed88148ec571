/** Who is signed in. */
import { lazy, type ReactNode } from "react";
import { words } from "../copy/en.ts";
import { LateMenu } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";

const PersonMenu = lazy(() => import("./person-menu.tsx").then(({ PersonMenu }) => ({ default: PersonMenu })));

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
