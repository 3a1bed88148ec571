/** What the ledger’s entries are called in English. */
export const entryWords = {
  time: "Time",
  kind: "Type",
  amount: "Amount",
  change: "Change",
  balance: "Balance",
  id: "Entry",
  kinds: {
    unspecified: "unknown",
    hold: "reserved",
    settle: "charged",
    void: "released",
    expire: "released, request lost",
    overage: "charged above the reserved amount",
    credit: "credit",
    refund: "refund",
    debit: "debit",
    reserve: "set aside for a job",
    return: "rest of a job returned",
    receivable: "owed to the operator",
  },
} as const;
