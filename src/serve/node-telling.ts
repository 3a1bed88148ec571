/** Tells the other nodes what this one is, and operators where nodes have different settings. */
import { Node } from "../api/index.js";
import { otherSettings } from "../api/settings-in-force.js";
import type { Log } from "../observe/log.js";
import type { ThisNode } from "./this-node.js";

const TELL_EVERY_MS = 5_000;

export class NodeTelling {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #told = "";
  #differing = 0;

  constructor(
    private readonly node: ThisNode,
    private readonly log: Log,
  ) {}

  /** How many nodes serve by other settings than those that were accepted last. */
  get differing(): number {
    return this.#differing;
  }

  start(): void {
    this.tell();
    this.#timer = setInterval(() => this.tell(), TELL_EVERY_MS).unref();
  }

  /** Says it once more, as after a change. */
  tell(): void {
    this.#running = this.#running.then(() => this.#tell());
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #tell(): Promise<void> {
    try {
      await this.node.note();
      this.#compare(await this.node.list());
    } catch (err) {
      this.log.debug({ err }, "the other nodes could not be told what this one is");
    }
  }

  #compare(nodes: readonly Node[]): void {
    const { newest, others } = otherSettings(nodes);
    this.#differing = others.length;
    const named = others.map(({ id, settingsVersion }) => `${id} ${settingsVersion || "none"}`);
    const told = named.join(", ");
    if (told === this.#told) return;
    this.#told = told;
    if (named.length === 0) this.log.info({ settings: newest?.settingsVersion }, "all nodes have the same settings");
    else
      this.log.warn(
        { newest: newest?.id, settings: newest?.settingsVersion, others: named },
        "nodes have different settings: bring their files up to date",
      );
  }
}
