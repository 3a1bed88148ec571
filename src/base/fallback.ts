/** How many models a request may fall back to: its attempts on all of them fit in one attempt log. */
export const FALLBACKS_MAX = 4;
