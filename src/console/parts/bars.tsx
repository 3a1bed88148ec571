/** A chart of stacked bars over days or hours, drawn as SVG, with the same figures as a table for who cannot see it. */
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { words } from "../copy/en.ts";

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
}

const HEIGHT = 180;
const LEFT = 52;
const FOOT = 22;
const LABEL_PIXELS = 64;
const COLOURS = 6;

export function Bars(parts: BarsParts): ReactNode {
  const { title, places, series } = parts;
  const [box, width] = useWidth();
  const [at, setAt] = useState<number>();
  return (
    <figure className="chart" ref={box}>
      <figcaption className="hidden-text">{title}</figcaption>
      {width > 0 ? <Drawing {...parts} width={width} at={at} onPoint={setAt} /> : <div style={{ height: HEIGHT }} />}
      <div className="chart-note" aria-hidden="true">
        {at === undefined ? <Legend series={series} /> : <Note {...parts} at={at} />}
      </div>
      <details>
        <summary>{words.chart.asTable}</summary>
        {places.length > 0 && <Figures {...parts} />}
      </details>
    </figure>
  );
}

interface DrawingParts extends BarsParts {
  readonly width: number;
  readonly at: number | undefined;
  readonly onPoint: (index: number | undefined) => void;
}

function Drawing({ places, series, width, at, short, rough, onPoint }: DrawingParts): ReactNode {
  const totals = places.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0n), 0n));
  const most = niceAbove(totals.reduce((top, value) => (value > top ? value : top), 0n));
  // A box that is being laid out may be narrower than the axis for a moment.
  const step = Math.max(width - LEFT, 0) / Math.max(places.length, 1);
  const plot = HEIGHT - FOOT;
  const y = (value: bigint): number => plot - share(value, most) * (plot - 8);
  const every = Math.max(1, Math.ceil(LABEL_PIXELS / step));
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true" focusable="false">
      {(most === 0n ? [0n] : [0n, most / 2n, most]).map((value, index) => (
        <g key={index}>
          <line className="grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
          {(value > 0n || index === 0) && (
            <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
              {rough(value)}
            </text>
          )}
        </g>
      ))}
      {places.map((place, index) => (
        <g key={place} onPointerEnter={() => onPoint(index)} onPointerLeave={() => onPoint(undefined)}>
          <rect
            x={LEFT + index * step}
            y={0}
            width={step}
            height={plot}
            fill="currentColor"
            opacity={at === index ? 0.06 : 0}
          />
          <Stack series={series} index={index} x={LEFT + index * step} step={step} y={y} />
          {index % every === 0 && (
            <text x={LEFT + (index + 0.5) * step} y={HEIGHT - 6} textAnchor="middle">
              {short(place)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

interface StackParts {
  readonly series: readonly Series[];
  readonly index: number;
  readonly x: number;
  readonly step: number;
  readonly y: (value: bigint) => number;
}

function Stack({ series, index, x, step, y }: StackParts): ReactNode {
  const gap = Math.min(step * 0.25, 8);
  let below = 0n;
  return series.map(({ name, values }, place) => {
    const value = values[index] ?? 0n;
    if (value === 0n) return null;
    const bottom = y(below);
    below += value;
    const top = y(below);
    return (
      <rect
        key={name}
        className={colourOf(place)}
        x={x + gap / 2}
        y={Math.min(top, bottom - 1)}
        width={Math.max(step - gap, 1)}
        height={Math.max(bottom - top, 1)}
        fill="currentColor"
        rx={step > 12 ? 2 : 0}
      />
    );
  });
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

function Figures({ title, places, placeName, series, exact, short }: BarsParts): ReactNode {
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
              <th scope="row">{short(place)}</th>
              {series.map(({ name, values }) => (
                <td key={name} className="number">
                  {exact(values[index] ?? 0n)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function colourOf(index: number): string {
  return `series-${(index % COLOURS) + 1}`;
}

/** Only for where a bar ends on the screen; the figures themselves stay whole. */
function share(value: bigint, most: bigint): number {
  return most === 0n ? 0 : Number((value * 10_000n) / most) / 10_000;
}

/** The next of 1, 2 and 5 times a power of ten. */
function niceAbove(value: bigint): bigint {
  if (value === 0n) return 0n;
  let unit = 1n;
  while (unit * 10n <= value) unit *= 10n;
  for (const factor of [1n, 2n, 4n, 6n, 8n, 10n]) if (unit * factor >= value) return unit * factor;
  return unit * 10n;
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
