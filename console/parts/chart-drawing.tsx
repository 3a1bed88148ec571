/** The drawing of a chart, stacked bars or lines: each series is one path, however many places there are. */
import type { ReactNode } from "react";
import type { BarsParts, Series } from "./bars.tsx";

export const HEIGHT = 180;
const LEFT = 60;
const FOOT = 22;
const PLOT = HEIGHT - FOOT;
const LABEL_PIXELS = 64;
const DOT_PIXELS = 2.5;
/** A circle, from its left end on. */
const DOT = [2, -2].map((to) => `a${DOT_PIXELS} ${DOT_PIXELS} 0 1 0 ${to * DOT_PIXELS} 0`).join("");

export interface DrawingParts extends BarsParts {
  readonly width: number;
  readonly at: number | undefined;
  readonly onPoint: (index: number | undefined) => void;
  readonly onChoose: ((index: number, series: Series | undefined) => void) | undefined;
}

export function Drawing(parts: DrawingParts): ReactNode {
  const { places, series, width, at, short, rough, isLines = false, onPoint, onChoose } = parts;
  const most = niceAbove(isLines ? highest(series.flatMap(({ values }) => values)) : highest(totalsOf(places, series)));
  // A box that is being laid out may be narrower than the axis for a moment.
  const step = Math.max(width - LEFT, 0) / Math.max(places.length, 1);
  const y = (value: bigint): number => PLOT - share(value, most) * (PLOT - 8);
  const every = Math.max(1, Math.ceil(LABEL_PIXELS / step));
  const placeAt = (event: React.PointerEvent<SVGElement> | React.MouseEvent<SVGElement>): number | undefined => {
    const index = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / step);
    return index >= 0 && index < places.length ? index : undefined;
  };
  const choose = (event: React.MouseEvent<SVGElement>): void => {
    const index = placeAt(event);
    if (index === undefined) return;
    const { top } = event.currentTarget.getBoundingClientRect();
    onChoose?.(index, isLines ? undefined : stackedAt(series, index, event.clientY - top, y));
  };
  return (
    <svg
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      aria-hidden="true"
      focusable="false"
      className={onChoose === undefined ? undefined : "chart-choose"}
      onPointerMove={(event) => onPoint(placeAt(event))}
      onPointerLeave={() => onPoint(undefined)}
      onClick={choose}
    >
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
      {at !== undefined && (
        <rect x={LEFT + at * step} y={0} width={step} height={PLOT} fill="currentColor" opacity={0.06} />
      )}
      {isLines ? <Lines series={series} step={step} y={y} /> : <Stacks series={series} step={step} y={y} />}
      {places.map((place, index) =>
        index % every === 0 ? (
          <text key={place} x={LEFT + (index + 0.5) * step} y={HEIGHT - 6} textAnchor="middle">
            {short(place)}
          </text>
        ) : null,
      )}
    </svg>
  );
}

interface PathsParts {
  readonly series: readonly Series[];
  readonly step: number;
  readonly y: (value: bigint) => number;
}

function Stacks({ series, step, y }: PathsParts): ReactNode {
  const gap = Math.min(step * 0.25, 8);
  const width = round(Math.max(step - gap, 1));
  const below: bigint[] = [];
  return series.map(({ name, values, colour }) => {
    let path = "";
    for (const [index, value] of values.entries()) {
      if (value === 0n) continue;
      const from = below[index] ?? 0n;
      const bottom = y(from);
      const top = Math.min(y(from + value), bottom - 1);
      below[index] = from + value;
      path += `M${round(LEFT + index * step + gap / 2)} ${round(bottom)}V${round(top)}h${width}V${round(bottom)}z`;
    }
    return <path key={name} className={colour} d={path} fill="currentColor" />;
  });
}

/** A place without a value is left out, and one alone is a dot. */
function Lines({ series, step, y }: PathsParts): ReactNode {
  return series.map(({ name, values, colour }) => {
    let line = "";
    let dots = "";
    for (const [index, value] of values.entries()) {
      if (value === 0n) continue;
      const [x, top] = [round(LEFT + (index + 0.5) * step), round(y(value))];
      const isGoingOn = index > 0 && (values[index - 1] ?? 0n) > 0n;
      line += `${isGoingOn ? "L" : "M"}${x} ${top}`;
      dots += `M${round(x - DOT_PIXELS)} ${top}${DOT}`;
    }
    return (
      <g key={name} className={colour}>
        <path d={line} fill="none" stroke="currentColor" strokeWidth={2} />
        <path d={dots} fill="currentColor" />
      </g>
    );
  });
}

/** The series whose part of a stack is at a height; undefined above the stack. */
function stackedAt(
  series: readonly Series[],
  index: number,
  height: number,
  y: (value: bigint) => number,
): Series | undefined {
  let sum = 0n;
  return series.find(({ values }) => {
    sum += values[index] ?? 0n;
    return (values[index] ?? 0n) > 0n && height >= y(sum);
  });
}

function totalsOf(places: readonly string[], series: readonly Series[]): readonly bigint[] {
  return places.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0n), 0n));
}

function highest(values: readonly bigint[]): bigint {
  return values.reduce((top, value) => (value > top ? value : top), 0n);
}

/** Only for where a bar ends on the screen; the figures themselves stay whole. */
function share(value: bigint, most: bigint): number {
  return most === 0n ? 0 : Number((value * 10_000n) / most) / 10_000;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** The next of 1, 2 and 5 times a power of ten. */
function niceAbove(value: bigint): bigint {
  if (value === 0n) return 0n;
  let unit = 1n;
  while (unit * 10n <= value) unit *= 10n;
  for (const factor of [1n, 2n, 4n, 6n, 8n, 10n]) if (unit * factor >= value) return unit * factor;
  return unit * 10n;
}
