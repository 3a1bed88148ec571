/** A chart over days or hours, drawn as SVG, with the same figures as a table for who cannot see it. */
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { words } from "../copy/en.ts";
import type { RequestSearch } from "../search.ts";
import { colourOf, Drawing, HEIGHT } from "./chart-drawing.tsx";
import { LateDetails } from "./late-details.tsx";

export interface Series {
  readonly name: string;
  /** One for each place of the axis. */
  readonly values: readonly bigint[];
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
  /** The requests that are behind a place. */
  readonly behind?: (place: string) => RequestSearch;
}

export function Bars(parts: BarsParts): ReactNode {
  const { title, places, series, behind } = parts;
  const [box, width] = useWidth();
  const [at, setAt] = useState<number>();
  const navigate = useNavigate();
  const choose = (index: number): void => {
    const place = places[index];
    if (behind !== undefined && place !== undefined) void navigate({ to: "/requests", search: behind(place) });
  };
  const drawn = { width, at, onPoint: setAt, onChoose: behind === undefined ? undefined : choose };
  return (
    <figure className="chart" ref={box}>
      <figcaption className="hidden-text">{title}</figcaption>
      {width > 0 ? <Drawing {...parts} {...drawn} /> : <div style={{ height: HEIGHT }} />}
      <div className="chart-note" aria-hidden="true">
        {at === undefined ? <Legend series={series} /> : <Note {...parts} at={at} />}
      </div>
      <LateDetails summary={words.chart.asTable}>{() => places.length > 0 && <Figures {...parts} />}</LateDetails>
    </figure>
  );
}

function Legend({ series }: { readonly series: readonly Series[] }): ReactNode {
  return (
    <ul className="legend">
      {series.map(({ name }, index) => (
        <LegendMark key={name} name={name} index={index} />
      ))}
    </ul>
  );
}

function Note({ places, series, exact, short, at }: BarsParts & { readonly at: number }): ReactNode {
  const there = series.map((one, index) => ({ ...one, index })).filter(({ values }) => (values[at] ?? 0n) !== 0n);
  return (
    <ul className="legend">
      <li>
        <strong>{short(places[at] ?? "")}</strong>
      </li>
      {there.map(({ name, values, index }) => (
        <LegendMark key={name} name={`${name} ${exact(values[at] ?? 0n)}`} index={index} />
      ))}
      {there.length === 0 && <li>{words.chart.nothing}</li>}
    </ul>
  );
}

function LegendMark({ name, index }: { readonly name: string; readonly index: number }): ReactNode {
  return (
    <li>
      <svg viewBox="0 0 10 10" className={colourOf(index)} aria-hidden="true">
        <rect width="10" height="10" rx="3" fill="currentColor" />
      </svg>
      {name}
    </li>
  );
}

function Figures({ title, places, placeName, series, exact, short, isLines = false, behind }: BarsParts): ReactNode {
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
                  <Link to="/requests" search={behind(place)}>
                    {short(place)}
                  </Link>
                )}
              </th>
              {series.map(({ name, values }) => (
                <td key={name} className="number">
                  {write(values[index] ?? 0n)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
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
