/** A person's own settings: the password, the second factor, and the sessions. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { meWords } from "../copy/en-me.ts";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Password } from "./password.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

export function Me(): ReactNode {
  const { name = "", email = "" } = useSignedIn().session.user ?? {};
  return (
    <Page title={words.pages.me} about={meWords.about(name, email)}>
      <Password />
      <SecondFactor />
      <Sessions />
    </Page>
  );
}
