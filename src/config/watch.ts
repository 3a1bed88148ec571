/** Hot reload: a changed settings file comes into force whole, or not at all. */
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "./config-error.js";
import { FileStamp } from "./included.js";

export interface WatchOptions<Loaded> {
  /** The settings file. */
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  /** Reads the file; throws a ConfigError where it is wrong. */
  readonly load: (path: string, env: NodeJS.ProcessEnv) => Loaded | Promise<Loaded>;
  /** Puts settings into force. A ConfigError thrown here refuses them as well. */
  readonly onSettings: (settings: Loaded) => void | Promise<void>;
  /** The file was refused, for these reasons; the settings before it stay in force. */
  readonly onRefused: (problems: readonly string[]) => void;
  /** How often the file is looked at where the system tells nothing, in milliseconds. */
  readonly pollMs?: number;
  /** How long the file must stay as it is before it is read, in milliseconds. */
  readonly settleMs?: number;
}

export interface SettingsWatch {
  /** Reads the file now, changed or not, and resolves once it is in force or refused. */
  reload(): Promise<void>;
  /** Ends the watch; a reload that runs already is finished first. */
  close(): Promise<void>;
}

/**
 * Watches the file, and those that it includes, from now on; the caller has loaded it once already. Never throws and
 * never stops on a bad file.
 */
export function watchSettings<Loaded>(options: WatchOptions<Loaded>): SettingsWatch {
  const watching = new Watching(options);
  watching.start();
  return watching;
}

class Watching<Loaded> implements SettingsWatch {
  private inForce: string;
  private seen: string;
  private running: Promise<void> = Promise.resolve();
  private settling: NodeJS.Timeout | undefined;
  private polling: NodeJS.Timeout | undefined;
  private watcher: FSWatcher | undefined;
  private closed = false;
  private readonly stamp: FileStamp;

  constructor(private readonly options: WatchOptions<Loaded>) {
    this.stamp = new FileStamp(options.path);
    this.seen = this.inForce = this.stamp.read();
  }

  start(): void {
    try {
      // The directory, since an editor replaces the file and a mounted volume swaps a link.
      this.watcher = watch(dirname(this.options.path), { persistent: false }, () => this.look());
      this.watcher.on("error", () => this.watcher?.close());
    } catch {
      // No watch is to be had here, such as on some network drives: the poll finds the change.
    }
    this.polling = setInterval(() => this.look(), this.options.pollMs ?? 1000);
    this.polling.unref();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.polling);
    clearTimeout(this.settling);
    this.watcher?.close();
    await this.running;
  }

  /** A changed file is read once it stayed the same for a while, since it may be half written now. */
  private look(): void {
    const stamp = this.stamp.read();
    if (this.closed || stamp === this.inForce || (stamp === this.seen && this.settling !== undefined)) return;
    this.seen = stamp;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), this.options.settleMs ?? 100);
  }

  private settle(): void {
    this.settling = undefined;
    const stamp = this.stamp.read();
    if (stamp !== this.seen) {
      this.look();
      return;
    }
    // Where it was reloaded meanwhile, this state of the file was dealt with, refused or not.
    if (stamp !== this.inForce) void this.reload();
  }

  reload(): Promise<void> {
    this.inForce = this.seen = this.stamp.read();
    this.running = this.running.then(() => this.read());
    return this.running;
  }

  private async read(): Promise<void> {
    if (this.closed) return;
    try {
      await this.options.onSettings(await this.options.load(this.options.path, this.options.env));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.options.onRefused(error instanceof ConfigError ? error.problems : [problem]);
    }
  }
}
