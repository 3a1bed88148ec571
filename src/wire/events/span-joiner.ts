/** Joins spans of bytes; neighbours of one memory become one span, so that whole reads are handed on without a copy. */

const NOTHING = Buffer.alloc(0);

export class SpanJoiner {
  private readonly spans: Buffer[] = [];
  private last: Buffer = NOTHING;

  add(span: Buffer): void {
    const { last } = this;
    if (last.length > 0 && last.buffer === span.buffer && last.byteOffset + last.length === span.byteOffset) {
      this.last = Buffer.from(last.buffer, last.byteOffset, last.length + span.length);
      return;
    }
    if (last.length > 0) this.spans.push(last);
    this.last = span;
  }

  /** Everything since the last time, as one. */
  take(): Buffer {
    const { last } = this;
    this.last = NOTHING;
    if (this.spans.length === 0) return last;
    this.spans.push(last);
    return Buffer.concat(this.spans.splice(0));
  }
}
