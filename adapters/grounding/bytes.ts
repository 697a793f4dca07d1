/** Numbers and texts, one after another, in few bytes. */

export class ByteWriter {
  #bytes = new Uint8Array(65_536);
  #length = 0;

  /** Whole numbers from 0, seven bits a byte. */
  numbers(...values: readonly number[]): void {
    for (let value of values) {
      this.#reserve(8);
      while (value >= 128) {
        this.#bytes[this.#length++] = (value % 128) | 128;
        value = Math.floor(value / 128);
      }
      this.#bytes[this.#length++] = value;
    }
  }

  float(value: number): void {
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.numbers(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads them in the order in which they were written. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder();
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  number(): number {
    let value = 0;
    for (let worth = 1;; worth *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * worth;
      if (byte < 128) return value;
    }
  }

  float(): number {
    const value = new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.number();
    return this.#decoder.decode(this.#bytes.subarray(this.#at, this.#at += length));
  }
}
