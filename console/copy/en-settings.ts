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
  noFile:
    "There is no settings file. Upstreams and models come from the pages Upstreams and Prices, and from environment " +
    "variables.",
  inForce: "in force",
  notInForce: "not in force",
  fileAbout:
    "The file as it is written, without its secrets. ${NAME} stands for an environment variable; you can add one " +
    "here only if TOLLGATE_SECRET_SOURCES allows it.",
  oneOfMany:
    "This is the file of the node that served this page. Each node uses its own file: keep all files the same.",
  readOnly: (why: string): string => `The file cannot be edited here. ${why}`,
  edit: "Edit the file",
  text: "Text of the file",
  editorRule:
    "Ctrl-Space proposes what can stand at a place. Tab indents; to leave the editor with the keyboard, press Escape " +
    "and then Tab. F8 goes to the next error.",
  textRule:
    "“(kept secret 1)” stands for a secret of the file. To change the secret, enter a new one in its place. If you " +
    "change the address that it belongs to, enter the secret again.",
  saveWill:
    "When you save, the text is checked, replaces the file and applies at once, as a whole or not at all. Running " +
    "requests keep the prices that they started with.",
  save: "Save the file",
  right: "The file is valid.",
  wrong: (count: number): string => `${many(count, "error", "errors")} found`,
  sold: "Resulting model prices",
  soldInput: "Input, USD per million",
  soldOutput: "Output, USD per million",
  soldBy: "Price source",
  losses: "Some targets cost more than the price of their model",
  place: (line: number, column: number): string => `Line ${line}, column ${column}`,
  saveFailed: "The file was not changed.",
  checkFailed: "The file was not checked.",
  named: "Source of each setting",
  nothingNamed: "Neither the file nor the environment defines anything.",
  what: "Type",
  name: "Name",
  decides: "Source",
  why: "Why",
  differs: "the file differs",
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
    file: "Only the file sets it.",
    environment: "An environment variable of its provider is set, and the file does not define it.",
    upstream: "An upstream lists it, and the file does not define it.",
    database: "The database sets it. Change it on its own page: changes in the file have no effect.",
  },
  exportTitle: "Export accounts, keys and alerts",
  exportAbout:
    "Download what the database has as a settings file, for example for another gateway. The secrets of keys are not " +
    "known: the file has a variable in place of each.",
  export: "Download as YAML",
  exportFailed: "The file was not created.",
} as const;
