/** When a request began, as its id tells. */

const ID = /^req_([0-9a-f]{12})[0-9a-f]{20}$/;

/** In milliseconds since 1970; undefined where the id is none that a gateway made. */
export function requestTime(id: string): number | undefined {
  const time = ID.exec(id)?.[1];
  return time === undefined ? undefined : Number.parseInt(time, 16);
}
