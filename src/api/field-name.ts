/** Names of fields as the protocol spells them. */

/** `requests_per_minute` for `requestsPerMinute`, and `cache_write_1h` for `cacheWrite1h`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]|(?<=[a-z]{2})\d/g, (sign) => `_${sign.toLowerCase()}`);
}
