/** The memory that all recorded answers take together. */

export class BytePool {
  #used = 0;

  /** `onChange` hears what is used. */
  constructor(
    private readonly max: number,
    private readonly onChange: (bytes: number) => void,
  ) {}

  /** False where so many bytes are not left. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.max) return false;
    this.#used += bytes;
    this.onChange(this.#used);
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.onChange(this.#used);
  }
}
