/** What a command's exit code says, so that scripts need not read its words. */
import { CommanderError } from "commander";
import { ConfigError } from "../config/config-error.js";
import { GatewayError } from "../base/errors.js";
import { UnusableData } from "../base/unusable-data.js";
import { CommandFailure } from "./failure.js";

export const EXIT_CODES = {
  failed: 1,
  usage: 2,
  settings: 3,
  denied: 4,
  unknown: 5,
  unavailable: 6,
  unproven: 7,
  unusable: 8,
} as const;
export type ExitCodeName = keyof typeof EXIT_CODES;

/** The codes as the help shows them. */
export const EXIT_CODES_HELP = `
Exit codes:
  0  done
  1  refused or failed for another reason
  2  the command line is wrong
  3  the settings have an error
  4  the key is invalid, or lacks the permission
  5  the resource does not exist, or exists already
  6  the gateway cannot be reached or is unavailable; try again
  7  the ledger has an error
  8  the data is damaged, incomplete, or of another program version`;

/** The code of what a command ended with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
  if (error instanceof ConfigError) return EXIT_CODES.settings;
  if (error instanceof CommandFailure) return EXIT_CODES[error.code];
  if (error instanceof UnusableData) return EXIT_CODES.unusable;
  if (!(error instanceof GatewayError)) return EXIT_CODES.failed;
  switch (error.http) {
    case 401:
    case 403:
      return EXIT_CODES.denied;
    case 404:
    case 409:
      return EXIT_CODES.unknown;
    case 503:
    case 504:
      return EXIT_CODES.unavailable;
    default:
      return EXIT_CODES.failed;
  }
}
