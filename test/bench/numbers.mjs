/** Numbers that commands are given. Both throw an Error of one line, which says what would be one. */

/**
 * @param {string} name
 * @param {string} text
 * @param {number} min
 * @param {number} max
 */
export function number(name, text, min, max) {
  const value = Number(text);
  if (value >= min && value <= max) return value;
  throw new Error(`${name} ${text}: it must be a number from ${min} to ${max}`);
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} min
 * @param {number} max
 */
export function wholeNumber(name, text, min, max) {
  const value = number(name, text, min, max);
  if (Number.isInteger(value)) return value;
  throw new Error(`${name} ${text}: it must be a whole number`);
}
