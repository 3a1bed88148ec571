/** Installs a Node from the registry where it is not there yet: `node test/prove/install-node.mjs 26`. */
import { installNode, VERSIONS } from "../nodes/install.mjs";
import { askAgain } from "./registry.mjs";

const [line = ""] = process.argv.slice(2);
const versions = VERSIONS.filter((version) => version.startsWith(`${line}.`));
for (const version of versions) askAgain(() => installNode(version));
process.exitCode = versions.length > 0 ? 0 : 2;
