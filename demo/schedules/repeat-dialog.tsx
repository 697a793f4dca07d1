import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { toData } from '../../src/base/errors.ts';
import type { ScheduleWhen } from '../../src/runtime/schedule.ts';
import type { Playground } from '../app/state/playground.ts';
import type { Where } from '../app/state/route.ts';
import { showRuns, whereOf } from '../app/state/screens.ts';
import type { Chat } from '../chat/state/chat.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Problem } from '../kit/problem.tsx';
import { endpointOf } from '../settings/state/settings.ts';
import './schedules.css';
import { Choice } from '../kit/choice.tsx';
import { Button } from '../kit/button.tsx';

const rhythms = {
  daily: 'Every day',
  weekdays: 'On weekdays',
  weekly: 'Every week',
  hourly: 'Every hour',
  custom: 'Custom (cron)',
};
type Rhythm = keyof typeof rhythms;
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Where runs of schedules happen, as a person reads it. */
export const placeTexts = { page: 'Runs while this page is open.', server: 'Runs on the server.' };

/** A time in a zone: `Mon 30 Nov 2026, 08:00`. */
export function timeIn(at: number, timeZone?: string): string {
  const options = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  return new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone !== undefined && { timeZone }) }).format(at);
}

/** Says when a chat's request is repeated, in which time zone, and what is said then. */
export function RepeatDialog(
  { chat, playground, onClose }: { readonly chat: Chat; readonly playground: Playground; readonly onClose: () => void },
): JSX.Element {
  const question = chat.messages.value.findLast(({ role }) => role === 'user');
  return (
    <ScheduleDialog
      title='Repeat this request'
      place={whereOf(playground)}
      message={question?.role === 'user' ? question.text : ''}
      onClose={onClose}
      onSave={async ({ message, when }) => {
        const { schedules } = await playground.rooms(endpointOf(playground.settings.choice.value));
        const name = chat.title.value || message.slice(0, 80);
        await schedules.create({ agentId: chat.agentId.value, name, message, when });
        playground.announcement.value = 'The schedule is saved';
        showRuns(playground, { section: 'schedules' });
      }}
    />
  );
}

interface ScheduleDialogProps {
  readonly title: string;
  readonly place: Where;
  readonly message: string;
  /** The pattern to start from; every day, when absent. */
  readonly when?: CronWhen | undefined;
  readonly onSave: (change: { readonly message: string; readonly when: CronWhen }) => Promise<void>;
  readonly onClose: () => void;
}

/** A schedule that comes by the clock. */
export type CronWhen = Extract<ScheduleWhen, { readonly cron: string }>;

/** The form of a schedule: what is said, and when. */
export function ScheduleDialog({ title, place, onSave, onClose, ...first }: ScheduleDialogProps): JSX.Element {
  const draft = useWhen(first.when);
  const message = useSignal(first.message);
  const problem = useSignal<string | undefined>(undefined);
  const isSaving = useSignal(false);
  const when = whenOf(draft.value);
  const save = async (): Promise<void> => {
    isSaving.value = true;
    try {
      await onSave({ message: message.value, when });
      onClose();
    } catch (error) {
      problem.value = toData(error).message;
    } finally {
      isSaving.value = false;
    }
  };
  return (
    <Dialog class='dialog-plain' label={title} testId='repeat' onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <h2>{title}</h2>
        <p class='field-help' data-testid='repeat-place'>{placeTexts[place]}</p>
        <label class='field'>
          <span>Message</span>
          <textarea
            data-testid='repeat-message'
            rows={4}
            required
            maxLength={32_768}
            value={message.value}
            onInput={(event) => (message.value = event.currentTarget.value)}
          />
        </label>
        <WhenFields draft={draft} />
        <NextTimes when={when} timeZone={when.timeZone} />
        <Problem text={problem.value} testId='repeat-problem' />
        <div class='dialog-foot'>
          <Button onClick={onClose}>Cancel</Button>
          <Button type='submit' kind='primary' testId='repeat-save' disabled={isSaving.value}>
            Save schedule
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface WhenDraft {
  readonly rhythm: Rhythm;
  readonly time: string;
  readonly day: number;
  readonly cron: string;
  readonly timeZone: string;
}

/** The fields of a rhythm, as they are written. */
function useWhen(when: CronWhen | undefined): Signal<WhenDraft> {
  return useSignal({
    ...rhythmOf(when?.cron ?? '0 8 * * *'),
    cron: when?.cron ?? '0 8 * * mon-fri',
    timeZone: when?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
}

function WhenFields({ draft }: { readonly draft: Signal<WhenDraft> }): JSX.Element {
  const { rhythm, time, day, cron, timeZone } = draft.value;
  const set = (part: Partial<WhenDraft>): void => void (draft.value = { ...draft.peek(), ...part });
  return (
    <div class='repeat-when'>
      <Choice
        label='How often'
        testId='repeat-rhythm'
        value={rhythm}
        options={Object.entries(rhythms)}
        onChoose={(chosen) => set({ rhythm: chosen as Rhythm })}
      />
      {rhythm === 'weekly' && (
        <Choice
          label='Day'
          value={String(day)}
          options={days.map((name, number) => [String(number), name])}
          onChoose={(chosen) => set({ day: Number(chosen) })}
        />
      )}
      {rhythm === 'custom'
        ? (
          <label class='field'>
            <span>Minute, hour, day, month, weekday</span>
            <input
              type='text'
              data-testid='repeat-cron'
              spellcheck={false}
              value={cron}
              onInput={(event) => set({ cron: event.currentTarget.value })}
            />
          </label>
        )
        : rhythm !== 'hourly' && (
          <label class='field'>
            <span>Time</span>
            <input
              type='time'
              data-testid='repeat-time'
              required
              value={time}
              onInput={(event) => set({ time: event.currentTarget.value })}
            />
          </label>
        )}
      <ZoneField value={timeZone} onInput={(zone) => set({ timeZone: zone })} />
    </div>
  );
}

function ZoneField(
  { value, onInput }: { readonly value: string; readonly onInput: (zone: string) => void },
): JSX.Element {
  const id = useId();
  return (
    <label class='field'>
      <span>Time zone</span>
      <input
        type='text'
        data-testid='repeat-zone'
        list={id}
        required
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <datalist id={id}>
        {Intl.supportedValuesOf('timeZone').map((zone) => <option key={zone} value={zone} />)}
      </datalist>
    </label>
  );
}

/** The next three times, as far as what was entered can be read. */
function NextTimes({ when, timeZone }: { readonly when: ScheduleWhen; readonly timeZone: string }): JSX.Element {
  const times = useSignal<readonly string[] | undefined>(undefined);
  const pattern = 'cron' in when ? when.cron : '';
  useEffect(() => {
    const show = async (): Promise<void> => {
      const { nextTimes } = await import('../../src/schedules/when.ts');
      const next = nextTimes({ cron: pattern, timeZone }, { after: Date.now(), count: 3 });
      times.value = next.map((at) => timeIn(at, timeZone));
    };
    void show().catch(() => (times.value = []));
  }, [pattern, timeZone]);
  return (
    <div class='repeat-next' data-testid='repeat-next' role='status'>
      {times.value?.length === 0 ? <p class='field-error'>No time matches this.</p> : (
        <>
          <p>Next times</p>
          <ul>{times.value?.map((time) => <li key={time}>{time}</li>)}</ul>
        </>
      )}
    </div>
  );
}

/** Reads what `whenOf` has written; anything else is a pattern of the person's own. */
function rhythmOf(cron: string): { readonly rhythm: Rhythm; readonly time: string; readonly day: number } {
  const [, minute = '0', hour = '8', weekdays = '*'] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|mon-fri|[0-6])$/.exec(cron) ??
    [];
  const [time, day] = [
    `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`,
    /\d/.test(weekdays) ? Number(weekdays) : 1,
  ];
  const known = (['daily', 'weekdays', 'weekly', 'hourly'] as const)
    .find((rhythm) => whenOf({ rhythm, time, day, cron, timeZone: '' }).cron === cron);
  return { rhythm: known ?? 'custom', time, day };
}

function whenOf({ rhythm, time, day, cron, timeZone }: WhenDraft): CronWhen & { readonly timeZone: string } {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const patterns: Readonly<Record<Rhythm, string>> = {
    daily: `${minute} ${hour} * * *`,
    weekdays: `${minute} ${hour} * * mon-fri`,
    weekly: `${minute} ${hour} * * ${day}`,
    hourly: '0 * * * *',
    custom: cron,
  };
  return { cron: patterns[rhythm], timeZone };
}
