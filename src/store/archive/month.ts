/** UTC months such as 2026-05, whose order is that of their texts. */

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** The first moment of a month. */
export function startOf(month: string): number {
  return Date.parse(`${month}-01T00:00:00Z`);
}

export function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, number));
}
