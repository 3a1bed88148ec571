/** What may stand in a picture's place. Some upstreams take films and documents there, which cost what these cost. */

/** How much of an address tells what is behind it. An address whose host ends later is no picture's. */
export const ADDRESS_HEAD_CHARACTERS = 512;

/** An address up to the end of its host. */
const TO_HOST = /^https?:\/\/[^/?#\\]+(?=[/?#\\]|$)/;
const FILM_SITES = /(^|\.)(youtube(-nocookie)?\.com|youtu\.be)\.?$/;

/** True of a media type that says picture. */
export function isPicture(mediaType: string): boolean {
  return mediaType.startsWith("image/");
}

/**
 * True of an address behind which a picture may be: one of the web, or data that say picture. What is spelled
 * otherwise, such as `DATA:`, is read as one thing here and as another there, and counts as what is dearest.
 */
export function mayBePicture(address: string): boolean {
  if (address.startsWith("data:")) return isPicture(address.slice("data:".length, ADDRESS_HEAD_CHARACTERS));
  const toHost = TO_HOST.exec(address)?.[0] ?? "";
  return toHost !== "" && toHost.length < ADDRESS_HEAD_CHARACTERS && !isFilmSite(toHost);
}

/** True of an address by which Google's models see a whole film. */
export function isFilmAddress(address: string): boolean {
  return isFilmSite(TO_HOST.exec(address)?.[0] ?? "");
}

function isFilmSite(toHost: string): boolean {
  return URL.canParse(toHost) && FILM_SITES.test(new URL(toHost).hostname);
}
