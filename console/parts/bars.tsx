/** A chart over days or hours, drawn as SVG, with the same figures as a table for who cannot see it. */
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { words } from "../copy/en.ts";
import type { RequestSearch } from "../search.ts";
import { Drawing, HEIGHT } from "./chart-drawing.tsx";
import { LateDetails } from "./late-details.tsx";

/** So many colours have no name. */
const COLOURS = 6;

export interface Series {
  readonly name: string;
  /** One for each place of the axis. */
  readonly values: readonly bigint[];
  /** The class of its colour. Absent: that of its place among the series. */
  readonly colour?: string;
  /** What leaves just its requests of those behind a place. */
  readonly only?: RequestSearch | undefined;
}

export interface BarsParts {
  readonly title: string;
  /** The places of the axis, such as days. */
  readonly places: readonly string[];
  readonly placeName: string;
  /** The same where there is little room. */
  readonly short: (place: string) => string;
  readonly series: readonly Series[];
  /** A value to its last digit, and roughly for the axis. */
  readonly exact: (value: bigint) => string;
  readonly rough: (value: bigint) => string;
  /** True where values do not add up, such as times: each series is a line, and 0 is no value. */
  readonly isLines?: boolean;
  /** The requests that are behind a place, of one series where `only` says which. */
  readonly behind?: (place: string, only?: RequestSearch) => RequestSearch;
  /** Where those requests are listed. */
  readonly list?: "/requests" | "/admin/requests";
}

export function Bars(parts: BarsParts): ReactNode {
  const { title, places, behind, list = "/requests" } = parts;
  const all = parts.series.map((one, index) => ({ colour: `series-${(index % COLOURS) + 1}`, ...one }));
  const [box, width] = useWidth();
  const [at, setAt] = useState<number>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const navigate = useNavigate();
  const series = all.filter(({ name }) => !hidden.has(name));
  const choose = (index: number, chosen: Series | undefined): void => {
    const place = places[index];
    if (behind !== undefined && place !== undefined) void navigate({ to: list, search: behind(place, chosen?.only) });
  };
  const drawn = { width, at, onPoint: setAt, onChoose: behind === undefined ? undefined : choose };
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <figure className="chart" ref={box}>
      <figcaption className="hidden-text">{title}</figcaption>
      {width > 0 ? <Drawing {...parts} series={series} {...drawn} /> : <div style={{ height: HEIGHT }} />}
      <div className="chart-note">
        {at === undefined ? (
          <Legend series={all} hidden={hidden} onToggle={toggle} />
        ) : (
          <Note {...parts} series={series} at={at} />
        )}
      </div>
      <LateDetails summary={words.chart.asTable}>{() => places.length > 0 && <Figures {...parts} />}</LateDetails>
    </figure>
  );
}

interface LegendParts {
  readonly series: readonly Series[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (name: string) => void;
}

/** One series alone has nothing to be compared with, so it is not switched off. */
function Legend({ series, hidden, onToggle }: LegendParts): ReactNode {
  return (
    <ul className="legend">
      {series.map(({ name, colour }) => (
        <li key={name}>
          {series.length < 2 ? (
            <Mark name={name} colour={colour} />
          ) : (
            <button type="button" aria-pressed={!hidden.has(name)} onClick={() => onToggle(name)}>
              <Mark name={name} colour={colour} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Note({ places, series, exact, short, at }: BarsParts & { readonly at: number }): ReactNode {
  const there = series.filter(({ values }) => (values[at] ?? 0n) !== 0n);
  return (
    <ul className="legend" aria-hidden="true">
      <li>
        <strong>{short(places[at] ?? "")}</strong>
      </li>
      {there.map(({ name, values, colour }) => (
        <li key={name}>
          <Mark name={`${name} ${exact(values[at] ?? 0n)}`} colour={colour} />
        </li>
      ))}
      {there.length === 0 && <li>{words.chart.nothing}</li>}
    </ul>
  );
}

function Mark({ name, colour = "" }: { readonly name: string; readonly colour: string | undefined }): ReactNode {
  return (
    <>
      <svg viewBox="0 0 10 10" className={colour} aria-hidden="true">
        <rect width="10" height="10" rx="3" fill="currentColor" />
      </svg>
      {name}
    </>
  );
}

function Figures(parts: BarsParts): ReactNode {
  const { title, places, placeName, series, exact, short, isLines = false, behind, list = "/requests" } = parts;
  const write = (value: bigint): string => (isLines && value === 0n ? "–" : exact(value));
  return (
    <div className="table-scroll" role="region" aria-label={title} tabIndex={0}>
      <table>
        <caption className="hidden-text">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{placeName}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place, index) => (
            <tr key={place}>
              <th scope="row">
                {behind === undefined ? (
                  short(place)
                ) : (
                  <Link to={list} search={behind(place)}>
                    {short(place)}
                  </Link>
                )}
              </th>
              {series.map(({ name, values, only }) => (
                <td key={name} className="number">
                  {behind === undefined || only === undefined || (values[index] ?? 0n) === 0n ? (
                    write(values[index] ?? 0n)
                  ) : (
                    <Link to={list} search={behind(place, only)}>
                      {write(values[index] ?? 0n)}
                    </Link>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {!isLines && (
          <tfoot>
            <tr>
              <th scope="row">{words.chart.total}</th>
              {series.map(({ name, values }) => (
                <td key={name} className="number">
                  {write(values.reduce((sum, value) => sum + value, 0n))}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function useWidth(): readonly [React.RefObject<HTMLElement | null>, number] {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}
