import { type FormEvent, useRef, useState } from 'react';
import { weatherReport } from './output.ts';

interface ComposerProps {
  isRunning: boolean;
  onSend: (
    message: { text: string; files?: FileList },
    output: typeof weatherReport | undefined,
  ) => void;
  onStop: () => void;
}

export function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [asData, setAsData] = useState(false);
  const files = useRef<HTMLInputElement>(null);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isRunning || text.trim() === '') return;
    const attached = files.current?.files;
    onSend(
      { text, ...(attached?.length && { files: attached }) },
      asData ? weatherReport : undefined,
    );
    setText('');
    if (files.current) files.current.value = '';
  };
  return (
    <form onSubmit={send}>
      <input
        aria-label='Message'
        placeholder='Ask the agent'
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        autoComplete='off'
        autoFocus
      />
      {isRunning ? <button type='button' onClick={onStop}>Stop</button> : <button type='submit'>Send</button>}
      <input ref={files} type='file' aria-label='Attach files' multiple />
      <label>
        <input
          type='checkbox'
          checked={asData}
          onChange={({ currentTarget }) => setAsData(currentTarget.checked)}
        />
        Answer as data
      </label>
    </form>
  );
}
