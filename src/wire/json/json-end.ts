/** Tells when a JSON object that comes in fragments is whole. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonEnd {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** True once an object or a list was opened and all that was opened is closed. */
  isWhole = false;

  push(fragment: string): void {
    for (let at = 0; at < fragment.length; at++) {
      const code = fragment.charCodeAt(at);
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (code === BACKSLASH) this.isEscaped = true;
        else if (code === QUOTE) this.isInString = false;
      } else if (code === QUOTE) this.isInString = true;
      else if (code === 0x7b || code === 0x5b) this.depth++;
      else if ((code === 0x7d || code === 0x5d) && --this.depth <= 0) this.isWhole = true;
    }
  }
}
