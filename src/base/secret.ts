/** A secret's value, wrapped so that it cannot slip into a prompt, a log or a message by being printed, copied or listed. */

/**
 * Who may receive a secret: origins as `URL.origin` writes them, and `code` for functions of the composition; `any` for a secret
 * that the composition leaves unbound.
 */
export type SecretOrigins = readonly string[] | 'any';

/** What a secret is made of. */
export interface SecretOptions {
  /** The name of the secret. */
  readonly id: string;
  /** Changes whenever the value changes. */
  readonly version: string;
  /** The text, which no log and no event contains. */
  readonly value: string;
  /** Nothing may receive it when absent. */
  readonly origins?: SecretOrigins | undefined;
}

/** A secret value with its id and its destinations. Everything but `reveal` shows `[secret id]`. */
export class Secret {
  readonly #id: string;
  readonly #version: string;
  readonly #value: string;
  readonly #origins: SecretOrigins;

  constructor({ id, version, value, origins = [] }: SecretOptions) {
    this.#id = id;
    this.#version = version;
    this.#value = value;
    this.#origins = origins === 'any' ? origins : Object.freeze([...origins]);
    Object.freeze(this);
  }

  get id(): string {
    return this.#id;
  }

  get version(): string {
    return this.#version;
  }

  /** Who may receive the value. */
  get origins(): SecretOrigins {
    return this.#origins;
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
