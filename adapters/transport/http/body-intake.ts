/** Limits on request bodies: how long one may take, how many may arrive at once, and how many bytes they may hold. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The limits of one endpoint. */
export interface BodyLimits {
  /** A body may take this long, and longer only while it keeps to the rate. */
  readonly deadlineMs: number;
  /** Received bytes extend the deadline at this rate: an import over a slow line may continue, a trickle may not. */
  readonly bytesPerSecond: number;
  /** Bodies at once of one tenant, of one client address where it is known, and of the endpoint. */
  readonly perTenant: number;
  readonly perAddress: number;
  readonly total: number;
  /** The bytes that the bodies being received of one tenant hold together, and those of all. */
  readonly tenantBytes: number;
  readonly totalBytes: number;
}

/** The limits that apply when the composition sets none. */
export const defaultBodyLimits: BodyLimits = {
  deadlineMs: 10_000,
  bytesPerSecond: 65_536,
  perTenant: 512,
  perAddress: 512,
  total: 2_048,
  tenantBytes: 67_108_864,
  totalBytes: 134_217_728,
};

/** The sender of a body, as far as it is known. */
export interface BodySender {
  readonly tenant?: string | undefined;
  readonly address?: string | undefined;
}

/** One body that is being received. */
export interface Arrival {
  /** Counts bytes. @throws PinnaceError `rate_limited` or `overloaded` when tenant or endpoint hold the most that they may. */
  take(bytes: number): void;
  /** Frees its slot and its bytes. */
  leave(): void;
}

/** The bodies that an endpoint is receiving. */
export interface BodyIntake {
  readonly limits: BodyLimits;
  /** @throws PinnaceError `rate_limited` (429) or `overloaded` (503) when a limit is reached. */
  enter(sender: BodySender): Arrival;
}

/** Creates an intake that receives nothing yet. */
export function createBodyIntake(given: Partial<BodyLimits> = {}): BodyIntake {
  const limits = { ...defaultBodyLimits, ...given };
  const counts = new Map<string, number>();
  let bytes = 0;
  const add = (name: string, by: number): void => {
    const next = (counts.get(name) ?? 0) + by;
    if (next === 0) counts.delete(name);
    else counts.set(name, next);
  };
  return {
    limits,
    enter({ tenant, address }) {
      const slots = slotsOf({ tenant, address }, limits);
      for (const { name, most, error } of slots) if ((counts.get(name) ?? 0) >= most) throw error();
      for (const { name } of slots) add(name, 1);
      const held = `bytes:${tenant ?? ''}`;
      const most = tenant === undefined ? Infinity : limits.tenantBytes;
      let own = 0;
      let left = false;
      return {
        take(length) {
          own += length;
          bytes += length;
          add(held, length);
          if ((counts.get(held) ?? 0) > most) throw tooMany('tenant_body_bytes', 'this tenant');
          if (bytes > limits.totalBytes) throw busy('instance_body_bytes');
        },
        leave() {
          if (left) return;
          left = true;
          bytes -= own;
          add(held, -own);
          for (const { name } of slots) add(name, -1);
        },
      };
    },
  };
}

interface Slot {
  readonly name: string;
  readonly most: number;
  readonly error: () => PinnaceError;
}

/** The limits that one body counts against. */
function slotsOf({ tenant, address }: BodySender, { total, perTenant, perAddress }: BodyLimits): readonly Slot[] {
  const all: Slot[] = [{ name: 'total', most: total, error: () => busy('instance_bodies') }];
  if (tenant !== undefined) {
    all.push({ name: `tenant:${tenant}`, most: perTenant, error: () => tooMany('tenant_bodies', 'this tenant') });
  }
  if (address !== undefined) {
    all.push({ name: `address:${address}`, most: perAddress, error: () => tooMany('address_bodies', 'this address') });
  }
  return all;
}

function tooMany(reason: string, whose: string): PinnaceError {
  const message = `Cannot receive the body: too many bodies of ${whose} are on their way, send fewer at once`;
  return new PinnaceError('rate_limited', message, { details: { reason } });
}

function busy(reason: string): PinnaceError {
  return new PinnaceError('overloaded', 'Cannot receive the body: the endpoint receives as much as it can', {
    details: { reason },
  });
}

/** The largest body of most requests, in bytes. */
export const usualBodyBytes = 1_048_576;
/** The largest chat, catalog and file, and the largest files for a data source. */
export const largeBodyBytes = 16_777_216;
