/** Whether the operator follows the first steps: kept in the tab, and in the browser once they are over. */

/** Set once all steps were done, or the person wants to see them no more. */
const OVER = "tollgate-first-steps-over";
/** Set once a step of the list was chosen. */
const FOLLOWED = "tollgate-first-steps-followed";

export function areOver(): boolean {
  return localStorage.getItem(OVER) !== null;
}

export function end(): void {
  localStorage.setItem(OVER, "1");
}

export function follow(): void {
  sessionStorage.setItem(FOLLOWED, "1");
}

/** Where it is false, a page without the list does not request the steps. */
export function isFollowing(): boolean {
  return sessionStorage.getItem(FOLLOWED) !== null && !areOver();
}
