/** The time that a page shows, kept in its URL: days, the last minutes and hours, or any two moments of a time zone. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { words } from "../copy/en.ts";
import { DAYS, type Days } from "../search.ts";
import { Choice, Field } from "./field.tsx";
import { LASTS, localMs, momentText, ownZone, type Period, type PeriodSearch, periodOf, zonedTime } from "./period.ts";

const NONE: PeriodSearch = { days: undefined, last: undefined, from: undefined, to: undefined };

/** The period of the page's URL. */
export function usePeriod(otherwise: Days): Period {
  const search: PeriodSearch & { readonly zone?: string } = useSearch({ strict: false });
  return periodOf(new Date(), search, search.zone ?? "UTC", otherwise);
}

export function Range({ otherwise }: { readonly otherwise: Days }): ReactNode {
  const search: PeriodSearch = useSearch({ strict: false });
  const isAny = search.from !== undefined;
  const chosen = isAny ? undefined : (search.last ?? search.days ?? otherwise);
  const choice = (wanted: PeriodSearch, name: string, isChosen: boolean): ReactNode => (
    <Link
      key={name}
      to="."
      search={(before) => ({ ...before, ...NONE, ...wanted })}
      activeProps={{ "aria-current": undefined }}
      aria-current={isChosen ? "true" : undefined}
      replace
    >
      {name}
    </Link>
  );
  return (
    <div className="row range">
      <nav className="segments" aria-label={words.range.label}>
        {LASTS.map((last) => choice({ last }, words.range.lasts[last], last === chosen))}
        {DAYS.map((days) => choice({ days }, words.range.days(days), days === chosen))}
      </nav>
      <AnyPeriod otherwise={otherwise} isChosen={isAny} />
    </div>
  );
}

interface AnyPeriodParts {
  readonly otherwise: Days;
  readonly isChosen: boolean;
}

function AnyPeriod({ otherwise, isChosen }: AnyPeriodParts): ReactNode {
  const box = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { startMs, endMs, zone } = usePeriod(otherwise);
  const lastMs = endMs ?? Date.now();
  const name = isChosen
    ? words.range.between(zonedTime(startMs, zone).slice(0, 16), zonedTime(lastMs, zone).slice(0, 16))
    : words.range.any;
  return (
    <details
      className="any-range"
      ref={box}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="button">{zone === "UTC" ? name : `${name} · ${zone}`}</summary>
      {isOpen && (
        <AnyForm
          key={`${startMs} ${endMs} ${zone}`}
          from={zonedTime(startMs, zone).slice(0, 16)}
          to={zonedTime(lastMs, zone).slice(0, 16)}
          zone={zone}
          onDone={() => setOpen(false)}
        />
      )}
    </details>
  );
}

interface AnyFormParts {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly onDone: () => void;
}

function AnyForm({ from, to, zone, onDone }: AnyFormParts): ReactNode {
  const navigate = useNavigate();
  const [typed, setTyped] = useState({ from, to, zone });
  const [startMs, endMs] = [localMs(typed.from, typed.zone), localMs(typed.to, typed.zone)];
  const wrong = startMs < endMs ? undefined : words.range.wrong;
  const isSamePeriod = typed.from === from && typed.to === to;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const period = isSamePeriod ? {} : { ...NONE, from: momentText(startMs), to: momentText(endMs) };
    const wanted = { ...period, zone: typed.zone === "UTC" ? undefined : typed.zone };
    // The edge: what this page keeps in its URL stays as it is, beside the period.
    void navigate({ to: ".", search: ((before: object) => ({ ...before, ...wanted })) as never, replace: true });
    onDone();
  };
  const zones = [...new Set(["UTC", ownZone(), zone])];
  const field = (name: "from" | "to", error?: string): ReactNode => (
    <Field
      label={words.range[name]}
      type="datetime-local"
      required
      value={typed[name]}
      wrong={error}
      onChange={({ currentTarget: { value } }) => setTyped({ ...typed, [name]: value })}
    />
  );
  return (
    <form className="card stack" onSubmit={submit}>
      {field("from")}
      {field("to", wrong)}
      <Choice
        label={words.range.zone}
        value={typed.zone}
        onChange={({ currentTarget: { value } }) => setTyped({ ...typed, zone: value })}
      >
        {zones.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Choice>
      <span>
        <button className="button main" type="submit" disabled={wrong !== undefined}>
          {words.range.apply}
        </button>
      </span>
    </form>
  );
}
