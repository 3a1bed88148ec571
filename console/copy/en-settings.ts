/** The sentences of the page of settings in English. */
import { many } from "./en.ts";

/** What is named, as the API says it. */
const kinds: Readonly<Record<string, string>> = {
  upstream: "Upstream",
  model: "Model",
  account: "Account",
  key: "Key",
  alert: "Alert",
  issuer: "Sign-in",
};

export const settingsWords = {
  noFile: "There is no settings file: what the environment says is served. Write a tollgate.yaml to say more.",
  inForce: "in force",
  notInForce: "not in force",
  fileAbout:
    "As it is written. Secrets that stand in it are kept out of this page; ${NAME} is filled in from the environment, and can be added here only where the start allows it.",
  oneOfMany: "This is the file of the node that answers you. Each node serves by its own: give all of them the same.",
  readOnly: (why: string): string => `The file cannot be edited here. ${why}`,
  edit: "Edit the file",
  text: "Text of the file",
  textRule:
    "“(kept secret 1)” stands for a secret as it is. It stays as long as its address does; write another one in its place to change it.",
  saveWill:
    "Saving checks the text, replaces the file and puts it in force at once: whole, or not at all. Requests that run end by the prices that they began with.",
  save: "Save the file",
  check: "Check it",
  right: "The text is right.",
  wrong: (count: number): string => `${many(count, "thing is", "things are")} wrong`,
  sold: "What its models would be sold at",
  soldInput: "Input, USD per million",
  soldOutput: "Output, USD per million",
  soldBy: "Price",
  losses: "Some targets cost more than their models are sold for",
  place: (line: number, column: number): string => `Line ${line}, column ${column}`,
  saveFailed: "The file was not changed.",
  checkFailed: "The text was not checked.",
  named: "What decides about each",
  nothingNamed: "Neither the file nor the environment names anything.",
  what: "What",
  name: "Name",
  decides: "Decided by",
  why: "Why",
  differs: "the file says otherwise",
  kinds,
  sources: {
    unspecified: "unknown",
    file: "tollgate.yaml",
    environment: "the environment",
    upstream: "its upstream",
    database: "the database",
  },
  because: {
    unspecified: "",
    file: "The file alone says it.",
    environment: "A variable of its family is set, and the file does not name it.",
    upstream: "An upstream offers it in its own list, and the file does not name it.",
    database: "The file made it once. Since then it is changed here, and the file changes nothing.",
  },
  exportTitle: "What was made here",
  exportAbout:
    "Accounts, keys and alerts of the database in the form of a settings file, such as for another gateway. Secrets of keys are not known: each stands there as a variable.",
  export: "Download as YAML",
  exportFailed: "The file was not made.",
} as const;
