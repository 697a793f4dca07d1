/** How many calls of each provider go on at once, over all plans of an instance. */

/** Places by provider. One without a limit always has one. */
export interface ProviderPlaces {
  isFree(provider: string | undefined): boolean;
  take(provider: string | undefined): void;
  free(provider: string | undefined): void;
}

/** Gives places; `onFree` is called when one that was the last becomes free. */
export function createProviderPlaces(
  limits: Readonly<Record<string, number>>,
  onFree: () => void,
): ProviderPlaces {
  const taken = new Map<string, number>();
  const limitOf = (provider: string): number =>
    Object.hasOwn(limits, provider) ? limits[provider] ?? Infinity : Infinity;
  const change = (provider: string, by: number): number => {
    const count = (taken.get(provider) ?? 0) + by;
    if (count === 0) taken.delete(provider);
    else taken.set(provider, count);
    return count;
  };
  return {
    isFree: (provider) => provider === undefined || (taken.get(provider) ?? 0) < limitOf(provider),
    take(provider) {
      if (provider !== undefined) change(provider, 1);
    },
    free(provider) {
      if (provider !== undefined && change(provider, -1) === limitOf(provider) - 1) onFree();
    },
  };
}
