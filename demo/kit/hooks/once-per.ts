/** State that lives as long as the page does: closed and opened again, a panel is as it was. */

/** Gives the function that makes something for each key once, when it is first asked for. */
export function oncePer<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new WeakMap<Key, { readonly value: Made }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}
