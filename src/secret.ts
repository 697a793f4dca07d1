/** A secret's value, wrapped so that it cannot slip into a prompt, a log or a message by being printed, copied or listed. */

/** A secret value with its id. Everything but `reveal` shows `[secret id]`. */
export class Secret {
  readonly #id: string;
  readonly #version: string;
  readonly #value: string;

  constructor({ id, version, value }: { id: string; version: string; value: string }) {
    this.#id = id;
    this.#version = version;
    this.#value = value;
    Object.freeze(this);
  }

  get id(): string {
    return this.#id;
  }

  get version(): string {
    return this.#version;
  }

  /** The value itself. Only the adapter that opens the socket calls this. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[secret ${this.#id}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.toPrimitive](): string {
    return this.toString();
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  [Symbol.for('Deno.customInspect')](): string {
    return this.toString();
  }
}
