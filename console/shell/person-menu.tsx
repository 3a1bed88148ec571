/** The person's own page, the theme, and the way out. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Header, Menu, MenuItem, MenuSection, Popover } from "react-aria-components";
import { signOut } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { cache } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import type { OpenMenuParts } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";
import { chooseTheme, chosenTheme, THEMES } from "./theme.ts";

export function PersonMenu({ button, onClose }: OpenMenuParts): ReactNode {
  const { session } = useSignedIn();
  const navigate = useNavigate();
  const [theme, setTheme] = useState(chosenTheme);
  const leave = useMutation({ mutationFn: () => call(signOut, {}), onSettled: () => cache.resetQueries() });
  const act = (id: string | number): void => {
    if (id === "me") return void navigate({ to: "/me" });
    const chosen = THEMES.find((one) => one === id);
    if (chosen === undefined) return leave.mutate();
    chooseTheme(chosen);
    setTheme(chosen);
  };
  return (
    <Popover className="popover" triggerRef={button} isOpen onOpenChange={onClose} placement="top start">
      <Menu className="menu" aria-label={words.shell.personMenu} autoFocus="first" onAction={act} onClose={onClose}>
        <MenuSection>
          <Header className="menu-head">{session.user?.email ?? ""}</Header>
          <MenuItem id="me" className="menu-item">
            {words.pages.me}
          </MenuItem>
        </MenuSection>
        <MenuSection selectionMode="single" selectedKeys={[theme]}>
          <Header className="menu-head">{words.shell.theme}</Header>
          {THEMES.map((one) => (
            <MenuItem key={one} id={one} className="menu-item" textValue={words.shell.themes[one]}>
              {words.shell.themes[one]}
            </MenuItem>
          ))}
        </MenuSection>
        <MenuSection aria-label={words.shell.signOut}>
          <MenuItem id="leave" className="menu-item">
            {words.shell.signOut}
          </MenuItem>
        </MenuSection>
      </Menu>
    </Popover>
  );
}
