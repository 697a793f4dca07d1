import type { JSX } from 'preact';

const paths = {
  menu: 'M4 7h16M4 12h16M4 17h10',
  plus: 'M12 5v14M5 12h14',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7.5 7.5h9v9h-9z',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  retry: 'M19 12a7 7 0 1 1-2.2-5.1M19 3.5V8h-4.5',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 11v5M13.5 11v5',
  sun:
    'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  chevron: 'M9 6l6 6-6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  search: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20',
  warning: 'M12 4.5l8.5 15h-17zM12 10v4.5M12 17v.2',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  hand: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM6.5 6.5l11 11',
  thought: 'M12 4a6 6 0 0 1 3.5 10.9V17h-7v-2.1A6 6 0 0 1 12 4zM9.5 20h5',
  wait: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2',
  info: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8v.2',
  arrow: 'M5 12h14M13 6l6 6-6 6',
} as const;

/** The name of a drawing. */
export type IconName = keyof typeof paths;

/** A small drawing in the colour of the text, for the eye only. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class='icon' viewBox='0 0 24 24' width='20' height='20' aria-hidden='true'>
      <path d={paths[name]} />
    </svg>
  );
}
