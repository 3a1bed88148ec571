/** What an issuer sent the browser back with: read as the page begins, since the router keeps what it knows alone. */
export const RETURNED_QUERY = window.location.search.slice(1);

const PLACE = "tollgate-place";

/** Notes the page, to which whoever signs in comes back. */
export function rememberPlace(): void {
  const { pathname, search } = window.location;
  window.sessionStorage.setItem(PLACE, pathname + search);
}

/** Leads to the page that was noted, or to the first one. It is one of the console's, whatever was noted. */
export function goToPlace(): void {
  const noted = window.sessionStorage.getItem(PLACE) ?? "";
  window.sessionStorage.removeItem(PLACE);
  const isPage = /^\/console(?:[/?]|$)/.test(noted) && !/^\/console\/(?:sign-in|invitation)/.test(noted);
  window.location.replace(isPage ? noted : "/console/");
}
