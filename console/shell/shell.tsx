/** The frame of every page: navigation beside it, and where the page itself is drawn. */
import { Link, Outlet, useLocation, useMatchRoute } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { words } from "../copy/en.ts";
import { FirstAccount } from "../overview/first-account.tsx";
import { LateNextStep } from "../overview/late-first-steps.tsx";
import { late } from "../parts/late.ts";
import { AccountSwitcher } from "./account-switcher.tsx";
import { Brand } from "./brand.tsx";
import { FactorNeeded } from "./factor-needed.tsx";
import { Icon } from "./icons.tsx";
import { type PageLink, pagesFor } from "./pages.ts";
import { PersonButton } from "./person-button.tsx";
import { useSignedIn } from "./session.ts";

const Palette = lazy(late(async () => ({ default: (await import("./palette.tsx")).Palette })));

export function Shell(): ReactNode {
  const [isFinding, setFinding] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useShortcut(() => setFinding(true));
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="frame">
      <a className="skip" href="#page" onClick={(event) => skipTo(event, main.current)}>
        {words.shell.skip}
      </a>
      <header className="bars">
        <div className="narrow-bar">
          <Brand />
          <span className="row">
            <FindButton onPress={() => setFinding(true)} isShort />
            <button className="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} type="button">
              <Icon name="menu" />
              {words.shell.menu}
            </button>
          </span>
        </div>
        <Side isOpen={isOpen} onFind={() => setFinding(true)} />
      </header>
      <main className="page" id="page" tabIndex={-1} ref={main}>
        <Content />
      </main>
      {isFinding && (
        <Suspense>
          <Palette onClose={() => setFinding(false)} />
        </Suspense>
      )}
    </div>
  );
}

/**
 * The page, or what the person needs first to use it. The own page of a person needs nothing, and the pages about the
 * whole gateway need no account: a new gateway has none.
 */
function Content(): ReactNode {
  const { account, session, isOverAll } = useSignedIn();
  const matches = useMatchRoute();
  if (matches({ to: "/me" }) !== false) return <Outlet />;
  if (session.lacksSecondFactor) return <FactorNeeded />;
  const isOfAll = isOverAll && matches({ to: "/admin", fuzzy: true }) !== false;
  if (account === "" && !isOfAll) return <FirstAccount />;
  if (matches({ to: "/" }) !== false) return <Outlet />;
  return (
    <>
      <LateNextStep />
      <Outlet />
    </>
  );
}

function Side({ isOpen, onFind }: { readonly isOpen: boolean; readonly onFind: () => void }): ReactNode {
  const { own, all } = pagesFor(useSignedIn());
  const { pathname } = useLocation();
  const side = useRef<HTMLDivElement>(null);
  // On a low screen the page's own place in a long list may be out of sight.
  useEffect(() => {
    side.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, [pathname]);
  return (
    <div className="side" data-open={isOpen} ref={side}>
      <Brand />
      <AccountSwitcher />
      <FindButton onPress={onFind} />
      <nav aria-label={words.shell.pages}>
        {own.map((page) => (
          <NavigationLink key={page.to} page={page} />
        ))}
        {all.length > 0 && (
          <>
            <h2>{words.shell.operator}</h2>
            {all.map((page) => (
              <NavigationLink key={page.to} page={page} />
            ))}
          </>
        )}
      </nav>
      <div className="side-foot">
        <PersonButton />
      </div>
    </div>
  );
}

function NavigationLink({ page }: { readonly page: PageLink }): ReactNode {
  return (
    <Link to={page.to} activeOptions={{ exact: page.to === "/" || page.to === "/admin", includeSearch: false }}>
      <Icon name={page.icon} />
      {page.name}
    </Link>
  );
}

function FindButton({
  onPress,
  isShort = false,
}: {
  readonly onPress: () => void;
  readonly isShort?: boolean;
}): ReactNode {
  return (
    <button className={isShort ? "button quiet" : "button find"} onClick={onPress} type="button">
      <Icon name="search" />
      <span>{words.shell.find}</span>
      {!isShort && <kbd aria-hidden="true">Ctrl K</kbd>}
    </button>
  );
}

/** Ctrl-K, and Cmd-K on a Mac. */
function useShortcut(act: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
}

function skipTo(event: { preventDefault(): void }, target: HTMLElement | null): void {
  event.preventDefault();
  target?.focus();
}
