import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RemoteSchedules } from '../../adapters/transport/client/rooms.ts';
import { toData } from '../../src/base/errors.ts';
import type { Schedule, ScheduleFire } from '../../src/runtime/schedule.ts';
import { agentOf, type Playground } from '../app/state/playground.ts';
import { Confirm } from '../kit/confirm.tsx';
import { Icon } from '../kit/icon.tsx';
import { Problem } from '../kit/problem.tsx';
import { placeTexts, ScheduleDialog, timeIn } from './repeat-dialog.tsx';
import './schedules.css';
import { Button } from '../kit/button.tsx';

/** How often the list is read again while it is shown. */
const readEveryMs = 3_000;

/** Does something with the schedules, reads the list again, and shows what went wrong. */
type Act = (work: (schedules: RemoteSchedules) => Promise<unknown>) => Promise<void>;

/** The schedules of this page, or of a server. */
export function SchedulesTab(
  { playground, via }: { readonly playground: Playground; readonly via?: string | undefined },
): JSX.Element {
  const list = useSignal<readonly Schedule[] | undefined>(undefined);
  const readProblem = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const attempt = async (into: Signal<string | undefined>, work: Parameters<Act>[0]): Promise<void> => {
    try {
      const { schedules } = await playground.rooms(via);
      await work(schedules);
      list.value = (await schedules.list({ limit: 200 })).items;
      into.value = undefined;
    } catch (error) {
      into.value = toData(error).message;
    }
  };
  useEffect(() => {
    const read = (): void => void attempt(readProblem, () => Promise.resolve());
    read();
    const timer = setInterval(read, readEveryMs);
    return () => clearInterval(timer);
  }, [via]);
  return (
    <div class='run-scroll schedules' data-testid='schedules'>
      <p class='inspector-faint'>{placeTexts[via === undefined ? 'page' : 'server']}</p>
      <Problem text={problem.value ?? readProblem.value} testId='schedules-problem' />
      {list.value?.length === 0 && (
        <p class='inspector-empty' data-testid='schedules-empty'>
          No schedules yet. Choose “Repeat…” in the menu of a chat.
        </p>
      )}
      <ul class='boxed'>
        {list.value?.map((schedule) => (
          <ScheduleItem
            key={schedule.id}
            schedule={schedule}
            playground={playground}
            via={via}
            act={(work) => attempt(problem, work)}
          />
        ))}
      </ul>
    </div>
  );
}

interface ScheduleItemProps {
  readonly schedule: Schedule;
  readonly playground: Playground;
  readonly via: string | undefined;
  readonly act: Act;
}

function ScheduleItem({ schedule, playground, via, act }: ScheduleItemProps): JSX.Element {
  const { id, name, message, paused, when } = schedule;
  const isOpen = useSignal(false);
  const isDeleting = useSignal(false);
  const isChanging = useSignal(false);
  const zone = 'cron' in when ? when.timeZone : undefined;
  const does = (how: 'run' | 'pause' | 'resume') => (): void => void act((all) => all[how](id));
  return (
    <li class='schedule' data-testid='schedule' data-paused={paused !== undefined}>
      <h3 dir='auto'>{name}</h3>
      <p class='inspector-faint' dir='auto'>{agentOf(playground.agents, schedule.agentId).name}: “{message}”</p>
      <Times schedule={schedule} zone={zone} />
      <div class='button-row'>
        <Button testId='schedule-run' onClick={does('run')}>Run now</Button>
        {paused
          ? <Button testId='schedule-resume' onClick={does('resume')}>Resume</Button>
          : <Button testId='schedule-pause' onClick={does('pause')}>Pause</Button>}
        {'cron' in when && (
          <Button testId='schedule-change' aria-haspopup='dialog' onClick={() => (isChanging.value = true)}>
            Change…
          </Button>
        )}
        <Button testId='schedule-history' aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          History <Icon name='chevron' />
        </Button>
        {isDeleting.value
          ? (
            <Confirm
              label='Delete schedule'
              testId='schedule-delete-sure'
              onConfirm={() => void act((all) => all.delete(id))}
              onCancel={() => (isDeleting.value = false)}
            />
          )
          : (
            <Button testId='schedule-delete' onClick={() => (isDeleting.value = true)}>
              Delete…
            </Button>
          )}
      </div>
      {isChanging.value && 'cron' in when && (
        <ScheduleDialog
          title='Change schedule'
          place={via === undefined ? 'page' : 'server'}
          message={message}
          when={when}
          onSave={async (change) => {
            await (await playground.rooms(via)).schedules.update(id, { ...change, revision: schedule.revision });
            await act(() => Promise.resolve());
          }}
          onClose={() => (isChanging.value = false)}
        />
      )}
      {isOpen.value && <History schedule={schedule} playground={playground} via={via} act={act} zone={zone} />}
    </li>
  );
}

/** When it runs next, or why it does not, and when it ran last. */
function Times({ schedule, zone }: { readonly schedule: Schedule; readonly zone: string | undefined }): JSX.Element {
  const { paused, next: [next], last } = schedule;
  return (
    <>
      <p data-testid='schedule-next'>
        {paused
          ? `Paused${paused.by === 'system' ? `: ${reasons[paused.reason] ?? paused.reason}` : ''}`
          : next === undefined
          ? 'No further time'
          : `Next: ${timeIn(next, zone)}${zone === undefined ? '' : ` (${zone})`}`}
      </p>
      {last && (
        <p data-testid='schedule-last' data-state={last.state}>
          Last: {timeIn(last.at, zone)}, {states[last.state ?? ''] ?? last.state}
        </p>
      )}
    </>
  );
}

const reasons: Readonly<Record<string, string>> = {
  failures: 'it failed five times in a row',
  expired: 'it has reached its end',
};
const states: Readonly<Record<string, string>> = {
  running: 'running',
  completed: 'done',
  awaiting_approval: 'waits for you',
  stopped: 'stopped at a limit',
  cancelled: 'canceled',
  failed: 'failed',
  interrupted: 'interrupted',
  refused: 'refused',
};
const outcomes: Readonly<Record<ScheduleFire['outcome'], string>> = {
  claimed: 'starting',
  started: 'started',
  overlap: 'skipped: the previous run had not ended',
  missed: 'missed: nothing was running at that time',
  refused: 'refused',
};

/** Its past runs, each with its answer on request. */
function History(
  { schedule, playground, via, act, zone }: ScheduleItemProps & { readonly zone: string | undefined },
): JSX.Element {
  const fires = useSignal<readonly ScheduleFire[] | undefined>(undefined);
  const answers = useSignal<Readonly<Record<number, string>>>({});
  useEffect(() => {
    void act(async (schedules) => (fires.value = (await schedules.fires(schedule.id)).items));
  }, [schedule.last?.at, schedule.last?.state]);
  const readAnswer = async (at: number): Promise<void> => {
    const chatId = schedule.chat === 'new' ? `${schedule.id}-${at}` : schedule.chat.id;
    const { messages } = await (await playground.rooms(via)).chats.get(chatId);
    const parts = messages.findLast(({ role }) => role === 'assistant')?.parts ?? [];
    const text = parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n\n');
    answers.value = { ...answers.value, [at]: text || 'No answer' };
  };
  return (
    <ol data-testid='schedule-fires'>
      {fires.value?.length === 0 && <li>No runs yet</li>}
      {fires.value?.map(({ at, outcome, count, runId, error }) => (
        <li key={at} data-outcome={outcome}>
          {timeIn(at, zone)}: {outcomes[outcome]}
          {count !== undefined && count > 1 && `, ${count} times`}
          {error && `: ${error.message}`}
          {runId !== undefined && answers.value[at] === undefined && (
            <Button
              kind='quiet'
              testId='schedule-answer'
              onClick={() => void act(() => readAnswer(at))}
            >
              Show answer
            </Button>
          )}
          {answers.value[at] !== undefined && <p class='schedule-answer' dir='auto'>{answers.value[at]}</p>}
        </li>
      ))}
    </ol>
  );
}
