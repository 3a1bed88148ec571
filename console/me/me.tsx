/** A person's own settings: the name, the password, the second factors, and the sessions. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { meWords } from "../copy/en-me.ts";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Name } from "./name.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Password } from "./password.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

export function Me(): ReactNode {
  const { name = "", email = "" } = useSignedIn().session.user ?? {};
  return (
    <Page title={words.pages.me} about={meWords.about(name, email)}>
      <Name />
      <Password />
      <SecondFactor />
      <Passkeys />
      <Sessions />
    </Page>
  );
}
