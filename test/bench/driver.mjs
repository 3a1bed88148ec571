/** The parent's side of a load driver: starts the process and gives it jobs, one at a time. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** @typedef {import("./load.mjs").Load} Load */

/** A load driver. */
export class Driver {
  /** @param {string} file Beside this file, such as load.mjs. */
  constructor(file) {
    this.child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ["--max-semi-space-size=64"] });
    const kill = () => void this.child.kill("SIGKILL");
    process.on("exit", kill);
    this.child.once("exit", () => process.off("exit", kill));
    this.ready = once(this.child, "message");
    this.ended = once(this.child, "exit").then(() => Promise.reject(new Error("the load driver ended")));
    this.ended.catch(() => {});
  }

  /**
   * Runs one job. Rejects where the driver ends.
   * @param {object} job
   * @returns {Promise<Load>}
   */
  async run(job) {
    await this.ready;
    const answered = once(this.child, "message");
    this.child.send(job);
    const [load] = await Promise.race([answered, this.ended]);
    return load;
  }

  stop() {
    this.child.disconnect();
  }
}
