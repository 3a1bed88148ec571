/** The sentences about changes of published prices in English, which only operators load. */

export const priceChangeWords = {
  title: "Changes of published prices",
  inForce: (list: string, since: string) =>
    since === "" ? `In force: ${list}.` : `In force: ${list}, since ${since}.`,
  read: (serial: string, time: string) => `The last snapshot has the serial ${serial} and was read ${time}.`,
  problem: (problem: string) => `The snapshot could not be read: ${problem}.`,
  refresh: "Read the snapshot now",
  refreshFailed: "The snapshot was not read.",
  none: "No change waits for a decision.",
  more: "There are more changes. Decide on these first, or use `tollgate prices`.",
  model: "Model",
  change: "Change, in USD per million tokens",
  waits: "Why it waits",
  allowed: "The settings leave each change to an operator.",
  actions: "Decide",
  isNew: "New model",
  isRemoved: "No longer in the list",
  component: (name: string, from: string, to: string) => `${name}: ${from} → ${to}`,
  other: (list: string, price: number) => `${list}: ${price}`,
  noPrice: "none",
  accept: "Accept",
  reject: "Reject",
  failed: "The price was not changed.",
} as const;
