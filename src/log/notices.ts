/** Notices for receivers outside. They are written in the commit of what happened, so none is lost; the room of webhooks sends them. */

import * as v from 'valibot';
import { wrongArgument } from '../base/check-options.ts';
import { sha256Sync } from '../base/hash.ts';
import { parse } from '../base/parse.ts';
import { SecretRef } from '../base/schema.ts';
import { type Notice, type NoticeMaker, type NoticeType, noticeTypes } from '../contracts/notices.ts';
import type { Change } from '../contracts/storage.ts';
import { dueChange } from './due.ts';

/** Where notices are sent, as Standard Webhooks. */
export interface Receiver {
  /** Names it in events; deliveries under way belong to it. */
  readonly id: string;
  /** Where notices are posted. */
  readonly url: string;
  /** The secret that signs, bound to `code`: `whsec_` and base64; two while they are rotated, the new one first. */
  readonly secret: SecretRef | readonly [SecretRef, SecretRef];
  readonly events: readonly NoticeType[];
  /** Adds texts of people, such as the question of an inbox item. Default: false. */
  readonly detail?: boolean | undefined;
  /** The address in your app that shows what happened, as `data.link`. */
  readonly link?: ((notice: Readonly<Record<string, unknown>>) => string) | undefined;
}

const ReceiverInput = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." and "-"')),
  url: v.pipe(v.string(), v.url(), v.regex(/^https?:/, 'must be an address with https')),
  secret: v.union([SecretRef, v.tuple([SecretRef, SecretRef])], 'must be { id } of a secret, or two of them'),
  events: v.pipe(v.array(v.picklist(noticeTypes)), v.minLength(1)),
  detail: v.optional(v.boolean()),
  link: v.optional(v.custom<NonNullable<Receiver['link']>>((link) => typeof link === 'function', 'must be a function')),
});

/** Parses the receivers of a composition. @throws PinnaceError `invalid_argument`. */
export function parseReceivers(given: readonly Receiver[]): readonly Receiver[] {
  if (!Array.isArray(given)) {
    throw wrongArgument('compose the runtime', 'notify', '"notify" must be an array of receivers');
  }
  const receivers = given.map((one, at) => parse(ReceiverInput, one, { what: `receiver ${at} of "notify"` }));
  const twice = receivers.find(({ id }, at) => receivers.findIndex((other) => other.id === id) < at);
  if (twice) throw wrongArgument('compose the runtime', 'notify', `"notify" names two receivers "${twice.id}"`);
  return receivers;
}

/** A notice on its way to one receiver, under `['delivery', id]`. */
export interface Delivery extends Notice {
  readonly receiver: string;
  readonly tries: number;
  /** Until then another process sends it. */
  readonly busyUntil?: number;
}

/** Longer than all tries take. */
const ttlMs = 7 * 86_400_000;

/** Makes the deliveries of notices. */
export class Notices implements NoticeMaker {
  readonly receivers: readonly Receiver[];
  #due: { arm(at: number): void } | undefined;

  constructor(receivers: readonly Receiver[]) {
    this.receivers = receivers;
  }

  /** Sends through this index. */
  connect(due: { arm(at: number): void }): void {
    this.#due = due;
  }

  /** The changes that announce it, for the commit of what happens. */
  changes(notice: Notice): readonly Change[] {
    return this.receivers.filter(({ events }) => events.includes(notice.type)).flatMap(({ id: receiver }) => {
      const id = `dlv_${sha256Sync(JSON.stringify([receiver, notice.tenant, notice.type, notice.item])).slice(0, 32)}`;
      const value: Delivery = { ...notice, receiver, tries: 0 };
      return [{ key: ['delivery', id], value, ttlMs }, dueChange({ at: notice.at, id, tenant: notice.tenant }, ttlMs)];
    });
  }

  /** Sends what is committed by then: at once when absent. */
  send(at = 0): void {
    this.#due?.arm(at);
  }
}
