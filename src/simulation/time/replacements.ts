/** Replaces functions of the platform, and restores them. */

/** Functions of the platform that are replaced until they are restored. */
export interface Replacements {
  readonly replace: (owner: object, members: Readonly<Record<string, unknown>>) => void;
  restore(): void;
}

/** Creates an empty list of replacements. */
export function createReplacements(): Replacements {
  const undo: (() => void)[] = [];
  return {
    replace(owner, members) {
      for (const [name, value] of Object.entries(members)) {
        const own = Object.getOwnPropertyDescriptor(owner, name);
        undo.push(() => void (own ? Object.defineProperty(owner, name, own) : Reflect.deleteProperty(owner, name)));
        Object.defineProperty(owner, name, {
          value,
          configurable: true,
          enumerable: own?.enumerable ?? true,
          writable: true,
        });
      }
    },
    restore() {
      for (const one of undo.splice(0).toReversed()) one();
    },
  };
}
