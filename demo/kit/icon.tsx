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
  previous: 'M15 6l-6 6 6 6',
  more: 'M5.5 12v.2M12 12v.2M18.5 12v.2',
  pin: 'M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5',
  down: 'M12 5v14M6 13l6 6 6-6',
  search: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20',
  warning: 'M12 4.5l8.5 15h-17zM12 10v4.5M12 17v.2',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  hand: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM6.5 6.5l11 11',
  thought: 'M12 4a6 6 0 0 1 3.5 10.9V17h-7v-2.1A6 6 0 0 1 12 4zM9.5 20h5',
  wait: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2',
  info: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8v.2',
  question: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM9.7 9.8a2.3 2.3 0 1 1 3.4 2c-.8.5-1.1 1-1.1 1.9M12 16.3v.2',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  tree: 'M6 4v13.5h5M6 9h5M14 7h6v4h-6zM14 15.5h6v4h-6z',
  undo: 'M9 6L4.5 10.5 9 15M5 10.5h9a5 5 0 0 1 0 10h-2',
  rename: 'M5 19h4L19 9l-4-4L5 15zM13 7l4 4',
  up: 'M12 19V5M6 11l6-6 6 6',
  pause: 'M8.5 6v12M15.5 6v12',
  play: 'M8 5.5l11 6.5-11 6.5z',
  plan: 'M9.5 4h5v4h-5zM4 16h5v4H4zM15 16h5v4h-5zM12 8v4M6.5 16v-4h11v4',
  cut: 'M7 5l10 12M17 5L7 17M6 16.5a2.2 2.2 0 1 0 .1 0zM18 16.5a2.2 2.2 0 1 0 .1 0z',
  paste: 'M8 5h8v3H8zM8 6H5.5v14h13V6H16M12 11v6M9.5 14.5L12 17l2.5-2.5',
  unfold: 'M8 8l4-4 4 4M8 16l4 4 4-4M12 4v16',
  fold: 'M8 4l4 4 4-4M8 20l4-4 4 4M5 12h14',
  area: 'M4 7.5V18h16V8.5h-8L10 6H4z',
  job: 'M12 4.5a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6zM12 8v11.5M5 13c.6 4 3.2 6.5 7 6.5s6.4-2.5 7-6.5M8.5 11h7',
  eye: 'M3 12c2.5-4 5.5-6 9-6s6.5 2 9 6c-2.5 4-5.5 6-9 6s-6.5-2-9-6zM12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  book: 'M12 6.5C10 5 7.5 4.5 4 4.5v13c3.5 0 6 .5 8 2 2-1.5 4.5-2 8-2v-13c-3.5 0-6 .5-8 2zM12 6.5v13',
  file: 'M7 4h7l4 4v12H7zM13.5 4v4.5H18',
  code: 'M9 7l-5 5 5 5M15 7l5 5-5 5',
  records: 'M5 5h14v5H5zM5 14h14v5H5zM8 7.5h3M8 16.5h3',
  waterfall: 'M4 6h7M8 11h8M13 16h7M4 20h16',
  zoomIn: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20M8.5 11h5M11 8.5v5',
  zoomOut: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20M8.5 11h5',
  whole: 'M4 6v12M20 6v12M7 12h10M9.5 9.5L7 12l2.5 2.5M14.5 9.5L17 12l-2.5 2.5',
  share: 'M12 15V4M8 8l4-4 4 4M8 11H5.5v9h13v-9H16',
  save: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14',
  pulse: 'M3 12h4l2.5-6 5 12 2.5-6h4',
  guide: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM15.5 8.5l-2 5-5 2 2-5z',
  clip: 'M19 11.5l-7.2 7.2a4.6 4.6 0 0 1-6.5-6.5l7.6-7.6a3 3 0 0 1 4.3 4.3l-7.4 7.4a1.5 1.5 0 0 1-2.1-2.1l6.6-6.6',
  sliders:
    'M4 7h8M18 7h2M4 17h2M12 17h8M15 4.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4zM9 14.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4z',
  table: 'M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14',
} as const;

export type IconName = keyof typeof paths;

/** A small drawing in the colour of the text, for the eye only. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class='icon' viewBox='0 0 24 24' width='20' height='20' aria-hidden='true'>
      <path d={paths[name]} />
    </svg>
  );
}
