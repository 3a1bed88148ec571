/** How far a request has come, in a word. */
export const requestStates = {
  unspecified: "unknown",
  held: "running",
  settled: "charged",
  voided: "no cost",
  expired: "lost",
  uncharged: "not charged",
};
